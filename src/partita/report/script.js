"use strict";
// The page is complete without this script, for the radius it opens with. Here the radius moves, and rows are sorted, found and paged.
// Everything shown is put in as text, never as HTML: names and values belong to whoever wrote the table.
const facts = JSON.parse(document.getElementById("facts").textContent);
const at = (id) => document.getElementById(id);
const PAGE = 25;
const percent = (share) => (share === 1 ? 100 : Math.min(100 * share, 99.9)).toFixed(1) + " %"; // 100.0 only where it is all
const percentOrDash = (share) => (share === null ? "–" : percent(share));
const grouped = (number) => number.toLocaleString("en-US");
const NOTES = { error: "error", beaten: "beaten", "label-sets": "label_sets", "collective-note": "collective" }; // elements, and what a statement calls them
const hasValues = facts.task === "regression";
let radius = facts.default;

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function set(place, attributes) {
  for (const [key, value] of Object.entries(attributes)) place.setAttribute(key, value);
}

// ---- the radius ----
const charts = [...document.querySelectorAll("#curve svg")].map((place) => ({
  place, marks: JSON.parse(place.dataset.marks),
}));

function moveMarkers(text) {
  for (const { place, marks } of charts) {
    const { x, y, text_y } = marks[radius], flip = radius > 0.75 * (marks.length - 1);
    set(place.querySelector(".marker"), { x1: x, x2: x });
    set(place.querySelector(".dot"), { cx: x, cy: y });
    const value = place.querySelector(".value");
    set(value, { x: x + (flip ? -11 : 11), y: text_y, "text-anchor": flip ? "end" : "start" });
    value.textContent = text;
  }
}

function fillRecall() {
  const cells = document.querySelectorAll("#recall .measure");
  [...facts.recall, facts.balanced].forEach((shares, k) => {
    if (!cells[k]) return;
    const share = radius < shares.length ? shares[radius] : 0;
    cells[k].querySelector("rect").setAttribute("width", 100 * (share ?? 0) + "%");
    cells[k].querySelector("span").textContent = percentOrDash(share);
    if (k === facts.recall.length && at("balanced")) at("balanced").textContent = percentOrDash(share);
  });
  const now = (shares) => (radius < shares.length ? shares[radius] : 0);
  document.querySelectorAll("#recall .kept-now").forEach((cell, k) => { cell.textContent = grouped(now(facts.kept[k])); });
  document.querySelectorAll("#recall .precision-now").forEach((cell, k) => {
    if (cell.textContent !== "–") cell.textContent = percent(now(facts.precision[k])); // a dash: nothing is predicted so
  });
  if (!facts.recall.length && facts.balanced.length) {
    at("balanced").textContent = percentOrDash(radius < facts.balanced.length ? facts.balanced[radius] : 0);
  }
}

function setRadius(r) {
  const slider = at("radius");
  if (slider) {
    if (Number(slider.value) !== r) slider.value = r;
    radius = r = Number(slider.value);
    const now = facts.at[r];
    at("radius-value").textContent = r;
    slider.setAttribute("aria-valuetext", `${r} ${facts.what}: ${now.number}`);
    at("proven-title").textContent = now.title;
    at("share").textContent = now.number;
    at("sentence").textContent = now.sentence;
    for (const [id, name] of Object.entries(NOTES)) if (at(id)) at(id).textContent = now[name];
    document.querySelectorAll(".radius-now").forEach((place) => { place.textContent = r; });
    moveMarkers(now.number);
    fillRecall();
  }
  fillRows();
}

// ---- the table of rows ----
const body = document.querySelector("#rows tbody");
const heads = [...document.querySelectorAll("#rows th")];
const cellOf = (line, name) => line.cells[heads.findIndex((head) => head.dataset.name === name)];
const SEARCHED = ["row", "prediction", "truth", "runner_up", "critical"];
const rows = facts.rows.map((row, k) => {
  const line = body.rows[k];
  return { ...row, line, text: SEARCHED.map((name) => cellOf(line, name)?.textContent ?? "").join("\n").toLowerCase() };
});
const intervalOf = (row) => (radius === 0 ? [row.prediction, row.prediction] : [row.low[radius - 1] ?? null, row.high[radius - 1] ?? null]);
const setOf = (row) => (radius === 0 ? [1, String(row.prediction)] : row.sets[radius - 1] ?? [Infinity, "–"]); // size and text
const KEYS = {
  sets: (row) => setOf(row)[0],
  interval: (row) => { const [low, high] = intervalOf(row); return low === null || high === null ? Infinity : high - low; },
  votes: (row) => (hasValues ? row.to - row.from : row.lead),
};
const keyOf = (name) => KEYS[name] ?? ((row) => row[name]);
const first = heads.find((head) => head.hasAttribute("aria-sort")) ?? heads[0];
let sorted = { name: first.dataset.name, down: false };
let page = 0;

function compare(a, b, down) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // what is not there comes last, up or down
  if (b === null || b === undefined) return -1;
  const up = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b)) : a < b ? -1 : 1;
  return down ? -up : up;
}

function chosenRows() {
  const text = at("find").value.trim().toLowerCase();
  const show = at("show").value;
  const chosen = rows.filter((row) => {
    const held = holds(row);
    if (show === "held" && !held) return false;
    if (show === "lost" && held) return false;
    if (show === "wrong" && row.right !== false) return false;
    return !text || row.text.includes(text);
  });
  const key = keyOf(sorted.name);
  return chosen.sort((a, b) => compare(key(a), key(b), sorted.down) || a.row - b.row);
}

const holds = (row) => typeof row.radius === "number" && row.radius >= radius;

function showRadiusIn(row) {
  if (row.radius !== undefined) row.line.className = holds(row) ? "held" : "lost";
  if (row.sets) cellOf(row.line, "sets").textContent = setOf(row)[1];
  if (!hasValues) return;
  const [low, high] = intervalOf(row);
  cellOf(row.line, "interval").textContent = `${low ?? "−∞"} … ${high ?? "∞"}`;
  const x = (value) => (row.to > row.from ? 2 + (96 * (value - row.from)) / (row.to - row.from) : 50);
  const [from, to] = [low === null ? 0 : x(low) - 1, high === null ? 100 : x(high) + 1];
  set(row.line.querySelector(".votes .other"), { x: from, width: to - from });
}

function fillRows() {
  const chosen = chosenRows();
  const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
  page = Math.min(page, pages - 1);
  const shown = chosen.slice(page * PAGE, (page + 1) * PAGE);
  shown.forEach(showRadiusIn);
  body.replaceChildren(...shown.map((row) => row.line));
  at("shown").textContent = `${grouped(chosen.length)} of ${grouped(rows.length)} rows`;
  at("page").textContent = `${page + 1} of ${pages}`;
  at("before").disabled = page === 0;
  at("after").disabled = page === pages - 1;
  document.querySelectorAll("#show option").forEach((option) => { option.textContent = SHOW[option.value](); });
  for (const [name, what] of [["interval", "interval"], ["sets", "labels"]]) {
    const heading = document.querySelector(`#rows th[data-name=${name}] button`);
    if (heading) heading.textContent = `${what} at r = ${radius}`;
  }
}

const SHOW = {
  all: () => "all rows",
  held: () => `certified at r = ${radius}`,
  lost: () => `not certified at r = ${radius}`,
  wrong: () => "wrong predictions",
};

function start() {
  document.documentElement.classList.add("scripted");
  if (at("numbers")) at("numbers").open = false;
  at("rows-place").classList.remove("tall");
  at("radius")?.addEventListener("input", (event) => setRadius(Number(event.target.value)));
  for (const { place, marks } of charts) {
    place.addEventListener("click", (event) => {
      const box = place.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * place.viewBox.baseVal.width;
      setRadius(marks.reduce((best, mark, r) => (Math.abs(mark.x - x) < Math.abs(marks[best].x - x) ? r : best), 0));
    });
  }
  const ranked = rows.some((row) => row.radius !== undefined);
  const extra = [ranked && "held", ranked && "lost", rows.some((row) => row.right === false) && "wrong"];
  for (const value of extra.filter(Boolean)) { const option = element("option"); option.value = value; at("show").append(option); }
  for (const head of heads) {
    const button = element("button", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      sorted = { name: head.dataset.name, down: sorted.name === head.dataset.name ? !sorted.down : false };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      page = 0; fillRows();
    });
    head.replaceChildren(button);
  }
  first.setAttribute("aria-sort", "ascending");
  at("find").addEventListener("input", () => { page = 0; fillRows(); });
  at("show").addEventListener("change", () => { page = 0; fillRows(); });
  at("before").addEventListener("click", () => { page -= 1; fillRows(); });
  at("after").addEventListener("click", () => { page += 1; fillRows(); });
  setRadius(facts.default);
}
start();
