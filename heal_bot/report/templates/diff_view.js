"use strict";
// Changes side by side: Python's words coloured, and what differs within a pair of lines marked.
const WORDS = new Set(("False None True and as assert async await break class continue def del elif else except finally for"
  + " from global if import in is lambda nonlocal not or pass raise return try while with yield match case").split(" "));
const TOKEN = /(""".*?(?:"""|$)|'''.*?(?:'''|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(#.*)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

function tokens(line) {
  const found = [];
  for (const match of line.matchAll(TOKEN)) {
    const kind = match[1] ? "string" : match[2] ? "comment" : match[3] ? "number" : WORDS.has(match[4]) ? "word" : "";
    if (kind) found.push([match.index, match.index + match[0].length, kind]);
  }
  return found;
}
// The middle in which two lines differ, as [begin, end] of each; nothing where they have little in common.
function differing(before, after) {
  const most = Math.min(before.length, after.length);
  let head = 0, tail = 0;
  while (head < most && before[head] === after[head]) head++;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const alike = before.slice(0, head).trim().length + before.slice(before.length - tail).trim().length;
  if (3 * alike < Math.max(before.trim().length, after.trim().length)) return [null, null];
  return [[head, before.length - tail], [head, after.length - tail]];
}
// Long lines stay plain: nobody reads them, and each colour is a node.
const COLOURED = 400;
function coloured(node, text, from, to, found) {
  let at = from;
  for (const [begin, end, kind] of found) {
    const [first, last] = [Math.max(begin, at), Math.min(end, to)];
    if (first >= last) continue;
    if (first > at) add(node, text.slice(at, first));
    node.append(make("span", text.slice(first, last), kind));
    at = last;
  }
  if (at < to) add(node, text.slice(at, to));
  return node;
}
function codeLine(text, kind, marked) {
  const node = make("div", undefined, kind);
  if (text.length > COLOURED) return add(node, text);
  const found = tokens(text), [from, to] = marked ?? [0, 0];
  coloured(node, text, 0, from, found);
  if (from < to) node.append(coloured(make("mark"), text, from, to, found));
  return coloured(node, text, to, text.length, found);
}
function split(diff) {
  const grid = named(make("div", undefined, "split"), "group", "change, line by line");
  let left = [], right = [];
  function flush() {
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      const pair = i < left.length && i < right.length ? differing(left[i], right[i]) : [null, null];
      grid.append(codeLine(left[i] ?? "", i < left.length ? "minus" : "none", pair[0]));
      grid.append(codeLine(right[i] ?? "", i < right.length ? "plus" : "none", pair[1]));
    }
    left = []; right = [];
  }
  let inside = false;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff ")) inside = false;
    if (!inside && (line.startsWith("--- ") || line.startsWith("+++ "))) continue;
    if (line.startsWith("diff ") || line.startsWith("@@") || line.startsWith("\\")) {
      inside ||= line.startsWith("@@");
      flush();
      grid.append(make("div", line, "head"));
    } else if (line.startsWith("-")) left.push(line.slice(1));
    else if (line.startsWith("+")) right.push(line.slice(1));
    else if (line) {
      flush();
      const again = codeLine(line.slice(1), "again");
      again.setAttribute("aria-hidden", "true");
      grid.append(codeLine(line.slice(1)), again);
    }
  }
  flush();
  return grid;
}
