"use strict";
const outcome = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");
// What the page says without a script.
main.replaceChildren();

// What nobody sees, or what turns the letters around it, is shown by its number.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/gu;
function seen(text) {
  return String(text).replace(UNSEEN, (letter) => "\\u{" + letter.codePointAt(0).toString(16) + "}");
}
function make(tag, text, kind) {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = seen(text);
  if (kind) node.className = kind;
  return node;
}
function add(parent, ...children) {
  for (const child of children) parent.append(child instanceof Node ? child : seen(child));
  return parent;
}
// Foreign prose with its `code` as code, where the backticks come in pairs.
function prose(tag, text, kind) {
  const node = make(tag, undefined, kind), parts = String(text).split("`");
  if (parts.length % 2 === 0) return add(node, text);
  parts.forEach((part, at) => { if (part) add(node, at % 2 ? make("code", part) : part); });
  return node;
}
function section(title, id) {
  const heading = make("h2", title);
  heading.id = id;
  const node = make("section");
  node.setAttribute("aria-labelledby", id);
  main.append(add(node, heading));
  return node;
}
function named(node, role, name) {
  node.setAttribute("role", role);
  node.setAttribute("aria-label", name);
  return node;
}
// What scrolls takes the focus, so that arrow keys move it.
function table(parent, heads, rows, kind) {
  const title = parent.firstChild.textContent;
  const box = named(make("div", undefined, "scroll"), "group", title + ", scrolls");
  box.tabIndex = 0;
  const node = make("table", undefined, kind);
  node.setAttribute("aria-label", title);
  const row = add(make("tr"), ...heads.map((head) => { const th = make("th", head); th.scope = "col"; return th; }));
  const body = make("tbody");
  for (const cells of rows) {
    const tr = make("tr");
    for (const cell of cells) tr.append(cell instanceof Node ? cell : make("td", cell));
    body.append(tr);
  }
  parent.append(add(box, add(node, add(make("thead"), row), body)));
}
// On a phone each cell stands under the next, with the head of its column.
function labelled(cell, label) { cell.dataset.label = label; return cell; }

const folded = [];
function unfold(title, fill) {
  const node = make("details");
  node.append(make("summary", title));
  const open = () => { if (node.children.length === 1) fill(node); };
  node.addEventListener("toggle", () => { if (node.open) open(); });
  folded.push([node, open]);
  return node;
}
// Paper cannot be unfolded.
addEventListener("beforeprint", () => { for (const [node, open] of folded) { open(); node.open = true; } });

// A page from a disk may not reach the clipboard by the newer way.
async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const box = make("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
}
function copier(title, text) {
  const node = make("button", title);
  node.type = "button";
  node.addEventListener("click", async () => {
    await copy(text);
    node.textContent = "Copied";
    setTimeout(() => { node.textContent = title; }, 2000);
  });
  return node;
}
// The folder of the bundle, in which this page lies.
function folder() {
  const path = location.protocol === "file:" ? decodeURIComponent(location.pathname.replace(/\/[^/]*$/, "")) : "";
  return "'" + (path || ".").replaceAll("'", "'\\''") + "'";
}

function ring(fixed, total) {
  const node = named(make("div", undefined, "ring"), "img", fixed + " fixed of " + total + " failing");
  node.style.setProperty("--share", String(total ? fixed / total : 0));
  return add(node, make("b", fixed + "/" + total));
}
function head() {
  const hero = make("header", undefined, "hero"), told = make("div"), cost = outcome.cost;
  if (outcome.total) hero.append(ring(outcome.fixed, outcome.total));
  add(told, make("h1", outcome.headline, outcome.mood), prose("p", outcome.reason));
  add(told, make("p", "heal-bot " + outcome.heal_bot + " on commit " + outcome.base_sha.slice(0, 12), "soft"));
  if (outcome.diff) add(told, add(make("p", undefined, "buttons"),
    copier("Copy the patch", outcome.diff), copier("Copy the apply command", "heal-bot apply --bundle " + folder())));
  const cards = make("ul", undefined, "cards"), tokens = cost.input_tokens + cost.output_tokens;
  const usd = cost.usd === null ? "USD unknown" : "$" + cost.usd.toFixed(2), s = outcome.certificate?.full_suite;
  const was = outcome.certificate?.suite_before;
  for (const [value, label] of [
    ...(s ? [[s.passed + " passed", s.failed + " failed" + (was ? ", was " + was.failed : "") + "; suite after the change"]] : []),
    [outcome.tried.toLocaleString("en"), "candidates tried, " + outcome.attempts.length + " recorded"],
    [cost.seconds.toFixed(1) + " s", "run"],
    [usd, tokens ? "models, " + tokens.toLocaleString("en") + " tokens" : "models"],
  ]) cards.append(add(make("li"), make("b", value), make("span", label, "soft")));
  add(main, add(hero, told), cards);
}
function doubts() {
  if (!outcome.doubts.length) return;
  const node = section("Doubts", "doubts");
  node.className = "alert";
  node.append(add(make("ul"), ...outcome.doubts.map((doubt) => prose("li", doubt))));
}
function causes() {
  if (!outcome.causes.length) return;
  section("What was wrong", "causes").append(add(make("ul"), ...outcome.causes.map((c) => {
    const more = c.more ? " and " + c.more + " more" : "";
    return add(make("li"), make("code", c.function), " made ", make("code", c.test), more + " fail",
      c.said ? add(prose("span", ": " + c.said)) : "", c.repair ? prose("span", "; repair: " + c.repair) : "");
  })));
}
function change() {
  if (outcome.diff) section("The verified change", "change").append(split(outcome.diff));
}
function suggestion() {
  const s = outcome.suggestion;
  if (!s) return;
  const node = section("A change that passes, but is not proposed as the fix", "suggestion");
  add(node, add(make("ul"), ...s.why.map((reason) => prose("li", reason))), split(s.diff));
}
function question() {
  const q = outcome.question;
  if (!q) return;
  const node = section("Which change is right?", "question");
  node.append(add(make("p"), "What should ", make("code", q.call), " give?"));
  for (const a of q.answers) {
    const take = copier("Copy the command that takes " + a.id, "heal-bot apply --bundle " + folder() + " --pick " + a.id);
    add(node, add(make("h3", a.id + ": "), make("code", a.result)));
    if (a.test) node.append(add(make("p", "As a test: ", "soft"), make("code", a.test)));
    add(node, split(a.diff), add(make("p", undefined, "buttons"), take));
  }
}
function closest() {
  const a = outcome.attempts.find((attempt) => attempt.number === outcome.closest);
  if (!a) return;
  const node = section("The closest attempt", "closest");
  add(node, prose("p", a.number + ". " + a.result + (a.rationale ? ": " + a.rationale : "")));
  if (a.detail) node.append(prose("p", a.detail, "soft"));
  if (a.diff) node.append(split(a.diff));
}
function findings() {
  if (!outcome.findings.length) return;
  const node = section("What is shown", "findings");
  for (const [how, said] of outcome.findings) add(node, make("h3", how), add(make("ul"), ...said.map((one) => prose("li", one))));
}
function row(test) {
  const head = make("th", test, "code");
  head.scope = "row";
  return head;
}
function cell(sign, word, kind) {
  const node = make("td", sign, "mark " + kind);
  if (word) { node.title = word; node.setAttribute("aria-label", word); }
  return node;
}
// What an attempt did to one test, or to how many of the parameters of a function.
function result(places, [fixed, left, broken]) {
  const counts = [fixed, left, broken].map((set) => places.filter((place) => set.has(place)).length);
  const words = ["passes", "still fails", "newly fails"], signs = ["✓", "✗", "!"], kinds = ["good", "bad", "bad"];
  const some = counts.findIndex((count) => count > 0), many = places.length > 1;
  if (some < 0) return cell("", "", "");
  if (!many) { const at = counts[2] ? 2 : some; return cell(signs[at], words[at], kinds[at]); }
  const said = counts.map((count, at) => count + " " + words[at]).filter((_, at) => counts[at]).join(", ");
  const whole = counts.filter((count) => count).length === 1;
  return cell(counts[0] + "/" + counts.reduce((sum, count) => sum + count), said, whole ? kinds[some] : "mixed");
}
function matrix() {
  if (!outcome.attempts.length) return;
  const node = section("Tests × attempts", "matrix");
  node.append(make("p", "✓ passes after the attempt, ✗ still fails, ! newly fails; of parameters how many pass", "soft"));
  const results = outcome.attempts.map((a) => [new Set(a.fixed), new Set(a.still_failing), new Set(a.newly_failing)]);
  const rows = outcome.groups.map((g) => [row(g.said), ...results.map((sets) => result(g.tests, sets))]);
  table(node, ["test", ...outcome.attempts.map((a) => a.number)], rows, "matrix");
}
function values(failure) {
  const box = make("td", undefined, "code");
  if (!failure.values) return add(box, failure.message.slice(0, 300));
  const [call, got, expected] = failure.values;
  if (call) box.append(make("div", call));
  return add(box, make("div", (call ? "got " : "left ") + got, "got"), make("div", (call ? "expected " : "right ") + expected, "expected"));
}
function tests() {
  const node = section("Tests", "tests");
  table(node, ["test", "status", "message", "reason"], outcome.failures.map((f) => [
    row(f.said), labelled(make("td", f.status, f.mood), "status"), labelled(values(f), "message"), labelled(prose("td", f.reason), "reason"),
  ]), "tests stacked");
}
function attempts() {
  if (!outcome.attempts.length) return;
  const node = section("Attempts", "attempts");
  const list = make("ol", undefined, "timeline");
  const held = new Set(outcome.causes.map((c) => c.attempt));
  for (const a of outcome.attempts) {
    const where = a.functions.map((name) => name.split("::").pop()).join(", ");
    const title = a.number + ". " + a.proposer + ", " + a.family + (where ? " in " + where : "") + ": " + a.result + (held.has(a.number) ? ", in the patch" : "");
    const item = unfold(title, (box) => {
      if (a.functions.length) box.append(add(make("p"), make("code", a.functions.join(", "))));
      if (a.rationale) box.append(prose("p", a.rationale));
      if (a.detail) box.append(prose("p", a.detail, "soft"));
      box.append(make("p", a.seconds.toFixed(1) + " s" + (a.usd ? ", $" + a.usd.toFixed(4) : ""), "soft"));
      if (a.diff) box.append(split(a.diff));
      for (const [test, message] of a.messages) box.append(make("p", test, "soft"), make("pre", message));
    });
    item.firstChild.className = a.mood;
    list.append(add(make("li"), item));
  }
  node.append(list);
}
function suspects() {
  let cause = 0;
  const rows = outcome.suspects.map((s) => {
    const first = s.cause !== cause;
    cause = s.cause;
    return [make("td", first ? s.cause + " (" + s.tests + (s.tests === 1 ? " test)" : " tests)") : ""),
      labelled(make("td", s.where, "code"), "where"),
      labelled(make("td", s.what + (s.changed ? " (changed)" : ""), s.changed ? "code good" : "code"), "what"),
      labelled(make("td", s.evidence), "evidence")];
  });
  if (rows.length) table(section("Suspects", "suspects"), ["cause", "where", "what", "evidence"], rows, "stacked");
}
function certificate() {
  const c = outcome.certificate;
  if (!c) return;
  const s = c.full_suite;
  const lines = [
    "suite after the change: " + s.passed + " passed, " + s.failed + " failed, " + s.skipped + " skipped",
    "tests and configuration " + (c.tests_unchanged ? "unchanged" : "CHANGED") + " (hash " + c.tests_hash.slice(0, 16) + ")",
    "Linux, Python " + c.environment.python + ", isolation " + c.isolation.mode + ": " + c.isolation.layers.join(", "),
    ...(c.not_run.length ? ["not run: " + c.not_run.join(", ")] : []),
    ...Object.entries(c.methods).map(([name, method]) => name + ": " + method),
    ...outcome.checks,
  ];
  section("How it was verified", "verified").append(unfold("Certificate", (box) => {
    box.append(add(make("ul"), ...lines.map((line) => make("li", line))));
  }));
}
for (const part of [head, doubts, causes, change, question, suggestion, closest, matrix, tests, attempts, findings, suspects, certificate]) part();
