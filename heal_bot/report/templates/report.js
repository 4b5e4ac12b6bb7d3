"use strict";
const outcome = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");

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
const GOOD = new Set(["fixed", "healed", "passed", "xfailed"]);
const MIXED = new Set(["not measured", "improved", "partly_healed", "flaky", "order_dependent", "unconfirmed"]);
function mood(word) { return GOOD.has(word) ? "good" : MIXED.has(word) ? "mixed" : "bad"; }
function words(text) { return String(text).replaceAll("_", " "); }

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

function split(diff) {
  const grid = named(make("div", undefined, "split"), "group", "change, line by line");
  let left = [], right = [];
  function flush() {
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      grid.append(make("div", left[i] ?? "", i < left.length ? "minus" : "none"));
      grid.append(make("div", right[i] ?? "", i < right.length ? "plus" : "none"));
    }
    left = []; right = [];
  }
  for (const line of diff.split("\n")) {
    if (line.startsWith("--- ") || line.startsWith("+++ ")) continue;
    if (line.startsWith("diff ") || line.startsWith("@@") || line.startsWith("\\")) {
      flush();
      grid.append(make("div", line, "head"));
    } else if (line.startsWith("-")) left.push(line.slice(1));
    else if (line.startsWith("+")) right.push(line.slice(1));
    else if (line) {
      flush();
      const again = make("div", line.slice(1), "again");
      again.setAttribute("aria-hidden", "true");
      grid.append(make("div", line.slice(1)), again);
    }
  }
  flush();
  return grid;
}
function bar(share) {
  const box = make("div", undefined, "bar");
  const fill = make("i");
  fill.style.setProperty("width", Math.max(1, Math.min(100, 100 * share)) + "%");
  box.setAttribute("aria-hidden", "true");
  return add(box, fill);
}
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

function head() {
  const c = outcome.certificate;
  const verdict = add(make("p"), make("b", words(outcome.status), mood(outcome.status)), ": " + outcome.reason);
  const fixed = outcome.failures.filter((f) => f.status === "fixed").length;
  const cards = make("ul", undefined, "cards");
  const cost = outcome.cost;
  const usd = cost.usd === null ? "USD unknown" : "$" + cost.usd.toFixed(2);
  const tokens = cost.input_tokens + cost.output_tokens;
  for (const [value, label] of [
    [fixed + " of " + outcome.failures.length, "failing tests fixed"],
    [outcome.tried.toLocaleString("en"), "candidates tried"], [outcome.attempts.length, "attempts"],
    [cost.seconds.toFixed(1) + " s", "run"],
    [usd, tokens ? "models, " + tokens.toLocaleString("en") + " tokens" : "models"],
  ]) cards.append(add(make("li"), make("b", value), make("span", label, "soft")));
  const commit = make("p", "commit " + outcome.base_sha.slice(0, 12) + ", heal-bot " + outcome.heal_bot + ", ended: " + outcome.stopped, "soft");
  add(main, make("h1", "heal-bot"));
  if (c && c.undoes) main.append(make("p", "undoes " + c.undoes, "bad"));
  add(main, verdict, commit, cards);
  for (const note of outcome.notes) main.append(make("p", note, "soft"));
}
function findings() {
  if (!outcome.findings.length) return;
  const node = section("What is shown", "findings");
  for (const [how, said] of outcome.findings) add(node, make("h3", how), add(make("ul"), ...said.map((one) => prose("li", one))));
}
function causes() {
  if (!outcome.causes.length) return;
  section("What was wrong", "causes").append(add(make("ul"), ...outcome.causes.map((c) => {
    const more = c.more ? " and " + c.more + " more" : "";
    return add(make("li"), make("code", c.function), " made ", make("code", c.test), more + " fail",
      c.said ? " (" + c.said + ")" : "", c.repair ? prose("span", "; repair: " + c.repair) : "");
  })));
}
function change() {
  if (outcome.diff) section("The verified change", "change").append(split(outcome.diff));
}
function suggestion() {
  const s = outcome.suggestion;
  if (!s) return;
  const node = section("A suggestion, no repair", "suggestion");
  add(node, make("p", "Why attempt " + s.attempt + " is not called the repair:"),
    add(make("ul"), ...s.why.map((reason) => make("li", reason))), split(s.diff));
}
function doubts() {
  const told = outcome.certificate ? outcome.certificate.doubts : [];
  if (told.length) section("Doubts", "doubts").append(add(make("ul"), ...told.map((doubt) => make("li", doubt))));
}
function tests() {
  const node = section("Tests", "tests");
  table(node, ["test", "status", "message", "reason"], outcome.failures.map((f) => [
    row(outcome.tests[f.test]), make("td", words(f.status), mood(f.status)), make("td", f.message.slice(0, 300), "code"), f.reason,
  ]), "tests");
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
function matrix() {
  if (!outcome.attempts.length) return;
  const node = section("Tests × attempts", "matrix");
  node.append(make("p", "✓ passes after the attempt, ✗ still fails, ! newly fails", "soft"));
  const results = outcome.attempts.map((a) => [new Set(a.fixed), new Set(a.still_failing), new Set(a.newly_failing)]);
  const rows = outcome.tests.map((test, place) => [row(test), ...results.map(([fixed, left, broken]) =>
    fixed.has(place) ? cell("✓", "passes", "good") : broken.has(place) ? cell("!", "newly fails", "bad")
      : left.has(place) ? cell("✗", "still fails", "bad") : cell("", "", ""))]);
  table(node, ["test", ...outcome.attempts.map((a) => a.number)], rows, "matrix");
}
function attempts() {
  if (!outcome.attempts.length) return;
  const node = section("Attempts", "attempts");
  const list = make("ol", undefined, "timeline");
  const held = new Set(outcome.causes.map((c) => c.attempt));
  const longest = Math.max(0.1, ...outcome.attempts.map((a) => a.seconds));
  for (const a of outcome.attempts) {
    const price = a.usd ? ", $" + a.usd.toFixed(4) : "";
    const where = a.functions.map((name) => name.split("::").pop()).join(", ");
    const title = a.number + ". " + a.proposer + ", " + a.family + (where ? " in " + where : "") + ": " + words(a.verdict) + (held.has(a.number) ? ", in the patch" : "") + ", fixes " + a.fixes + " (" + a.seconds.toFixed(1) + " s" + price + ")";
    const item = unfold(title, (box) => {
      if (a.functions.length) box.append(add(make("p"), make("code", a.functions.join(", "))));
      if (a.rationale) box.append(prose("p", a.rationale));
      if (a.detail) box.append(prose("p", a.detail, "soft"));
      if (a.diff) box.append(split(a.diff));
      for (const [test, message] of a.messages) box.append(make("p", test, "soft"), make("pre", message));
    });
    item.firstChild.className = mood(a.verdict);
    list.append(add(make("li"), bar(a.seconds / longest), item));
  }
  node.append(list);
}
function suspects() {
  let cause = 0;
  const rows = outcome.suspects.map((s) => {
    const first = s.cause !== cause;
    cause = s.cause;
    return [first ? s.cause + " (" + s.tests + (s.tests === 1 ? " test)" : " tests)") : "", make("td", s.where, "code"),
      make("td", s.what + (s.changed ? " (changed)" : ""), s.changed ? "code good" : "code"),
      add(make("td", s.score.toFixed(2)), bar(s.score / 1.8)), s.evidence];
  });
  if (rows.length) table(section("Suspects", "suspects"), ["cause", "where", "what", "score", "evidence"], rows);
}
function certificate() {
  const c = outcome.certificate;
  if (!c) return;
  const node = section("How it was verified", "verified");
  const s = c.full_suite;
  const lines = [
    "suite after the change: " + s.passed + " passed, " + s.failed + " failed, " + s.skipped + " skipped",
    "tests and configuration " + (c.tests_unchanged ? "unchanged" : "CHANGED") + " (hash " + c.tests_hash.slice(0, 16) + ")",
    "Python " + c.environment.python + ", isolation " + c.isolation.mode + ": " + c.isolation.layers.join(", "),
    ...Object.entries(c.methods).map(([name, method]) => name + ": " + method),
    ...outcome.checks,
  ];
  node.append(add(make("ul"), ...lines.map((line) => make("li", line))));
}
for (const part of [head, findings, causes, change, suggestion, doubts, tests, matrix, attempts, suspects, certificate]) part();
