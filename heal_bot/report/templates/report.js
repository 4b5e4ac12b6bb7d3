"use strict";
const outcome = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");

function make(tag, text, kind) {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = String(text);
  if (kind) node.className = kind;
  return node;
}
function add(parent, ...children) {
  for (const child of children) parent.append(child);
  return parent;
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
const MIXED = new Set(["improved", "partly_healed", "flaky", "order_dependent", "unconfirmed"]);
function mood(word) { return GOOD.has(word) ? "good" : MIXED.has(word) ? "mixed" : "bad"; }
function words(text) { return String(text).replaceAll("_", " "); }

function table(parent, heads, rows, kind) {
  const box = make("div", undefined, "scroll");
  box.tabIndex = 0;
  const node = make("table", undefined, kind);
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
  const grid = make("div", undefined, "split");
  let left = [], right = [];
  function flush() {
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      grid.append(make("div", left[i] ?? "", i < left.length ? "minus" : ""));
      grid.append(make("div", right[i] ?? "", i < right.length ? "plus" : ""));
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
    else if (line) { flush(); grid.append(make("div", line.slice(1)), make("div", line.slice(1))); }
  }
  flush();
  return grid;
}
function unfold(title, fill) {
  const node = make("details");
  node.append(make("summary", title));
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) fill(node); });
  return node;
}

function head() {
  const verdict = add(make("p"), make("b", words(outcome.status), mood(outcome.status)), ": " + outcome.reason);
  const fixed = outcome.failures.filter((f) => f.status === "fixed").length;
  const cards = make("ul", undefined, "cards");
  const usd = outcome.cost.usd === null ? "USD unknown" : "$" + outcome.cost.usd.toFixed(2);
  const tried = outcome.searches.reduce((sum, s) => sum + s.tried, 0);
  for (const [value, label] of [
    [fixed + " of " + outcome.failures.length, "failing tests fixed"],
    [tried, "candidates tried"], [outcome.attempts.length, "attempts"],
    [outcome.cost.seconds.toFixed(1) + " s", "run"], [usd, "models"],
  ]) cards.append(add(make("li"), make("b", value), make("span", label, "soft")));
  const commit = make("p", "commit " + outcome.request.base_sha.slice(0, 12) + ", heal-bot " + outcome.heal_bot + ", ended: " + outcome.stopped, "soft");
  add(main, make("h1", "heal-bot"), verdict, commit, cards);
  for (const note of outcome.notes) main.append(make("p", note, "soft"));
}
function change() {
  if (!outcome.patch) return;
  section("The verified change", "change").append(split(outcome.patch.diff));
}
function tests() {
  const node = section("Tests", "tests");
  table(node, ["test", "status", "message", "reason"], outcome.failures.map((f) => [
    make("td", f.test, "code"), make("td", words(f.status), mood(f.status)),
    make("td", (f.kind ? f.kind + ": " : "") + f.message.slice(0, 300), "code"), f.reason,
  ]));
}
function matrix() {
  if (!outcome.attempts.length) return;
  const node = section("Tests × attempts", "matrix");
  node.append(make("p", "✓ passes after the attempt, ✗ still fails, ! newly fails", "soft"));
  const seen = outcome.attempts.map((a) => [new Set(a.fixed), new Set(a.still_failing), new Set(a.newly_failing)]);
  const names = new Set(outcome.failures.map((f) => f.test));
  for (const a of outcome.attempts) for (const test of a.newly_failing) names.add(test);
  const rows = [...names].map((test) => [make("td", test, "code"), ...seen.map(([fixed, left, broken]) =>
    fixed.has(test) ? make("td", "✓", "mark good") : broken.has(test) ? make("td", "!", "mark bad")
      : left.has(test) ? make("td", "✗", "mark bad") : make("td", "", "mark"))]);
  table(node, ["test", ...outcome.attempts.map((a) => a.number)], rows, "matrix");
}
function attempts() {
  if (!outcome.attempts.length) return;
  const node = section("Attempts", "attempts");
  const list = make("ol", undefined, "timeline");
  for (const a of outcome.attempts) {
    const title = a.number + ". " + a.proposer + ", " + a.family + ": " + words(a.verdict) + ", fixes " + a.fixed.length + " (" + a.seconds.toFixed(1) + " s)";
    const item = unfold(title, (box) => {
      if (a.rationale) box.append(make("p", a.rationale));
      if (a.detail) box.append(make("p", a.detail, "soft"));
      if (a.diff) box.append(split(a.diff));
      for (const [test, message] of Object.entries(a.messages)) box.append(make("p", test, "soft"), make("pre", message));
    });
    item.firstChild.className = mood(a.verdict);
    list.append(add(make("li"), item));
  }
  node.append(list);
}
function suspects() {
  const rows = [];
  for (const cluster of outcome.clusters) for (const [rank, s] of cluster.suspects.entries()) {
    const bar = make("div", undefined, "bar");
    const fill = make("i");
    fill.style.setProperty("width", Math.max(2, Math.min(100, 100 * s.score / 1.8)) + "%");
    const cell = make("td");
    cell.append(bar); bar.append(fill);
    rows.push([rank ? "" : cluster.id + " (" + cluster.tests.length + ")", make("td", s.path + ":" + s.first_line, "code"),
      make("td", s.qualname, "code"), s.score.toFixed(2), cell, s.evidence.join("; ")]);
  }
  if (rows.length) table(section("Suspects", "suspects"), ["cause (tests)", "where", "what", "score", "", "evidence"], rows);
}
function certificate() {
  const c = outcome.certificate;
  if (!c) return;
  const node = section("How it was verified", "verified");
  const s = c.full_suite;
  const lines = [
    c.baseline_runs + " baseline runs, " + c.verify_runs + " cold runs in a fresh checkout of " + c.base_sha.slice(0, 12) + ", Python " + c.environment.python,
    "whole suite " + (s.complete ? "" : "(incomplete) ") + "after the change: " + s.passed + " passed, " + s.failed + " failed, " + s.skipped + " skipped",
    "tests and configuration " + (c.tests_unchanged ? "unchanged" : "CHANGED") + " (hash " + c.tests_hash.slice(0, 16) + ")",
    "isolation " + c.isolation.mode + ": " + c.isolation.layers.join(", "),
    ...c.isolation.missing.map((layer) => "missing: " + layer),
    ...Object.entries(c.methods).map(([name, method]) => name + ": " + method),
    ...c.gates.map((gate) => gate.name + ": " + gate.result),
    ...c.doubts.map((doubt) => "doubt: " + doubt),
  ];
  node.append(add(make("ul"), ...lines.map((line) => make("li", line))));
}
for (const part of [head, change, tests, matrix, attempts, suspects, certificate]) part();
