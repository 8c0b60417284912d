"use strict";
// Everything shown is put in as text, never as HTML: names and values belong to whoever wrote the table.
const facts = JSON.parse(document.getElementById("facts").textContent);
const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const PAGE = 25;
const SOME = 4; // longer lists are folded
const percent = (share) => (share === 1 ? 100 : Math.min(100 * share, 99.9)).toFixed(1) + " %"; // 100.0 only where it is all
const grouped = (number) => number.toLocaleString("en-US");
let radius = 0;

function svg(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// A chart of step curves: share over radius, and below them a broad line for the best of all. Returns a function that moves the marker.
function chart(place, curves, best, onPick) {
  const width = Math.max(300, Math.round(place.getBoundingClientRect().width) || 640), height = Math.round(Math.max(240, 0.54 * width));
  const left = 46, right = 14, top = 14, bottom = 40;
  place.replaceChildren();
  const last = Math.max(1, ...curves.map((curve) => curve.share.length - 1));
  const x = (r) => left + (r / last) * (width - left - right);
  const y = (share) => top + (1 - share) * (height - top - bottom);
  place.setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }, place);
    svg("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, place, 100 * share + " %");
  }
  const step = Math.max(1, Math.ceil(last / 12));
  for (let r = 0; r <= last; r += step) svg("text", { x: x(r), y: height - bottom + 20, "text-anchor": "middle" }, place, r);
  svg("text", { x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle" }, place, "radius: " + facts.what + " an attacker owns");
  const steps = (share) => share.reduce((path, value, r) => (r === 0 ? `M ${x(0)} ${y(value)}` : `${path} H ${x(r)} V ${y(value)}`), "");
  if (best) svg("path", { class: "line best", d: steps(best) }, place);
  curves.map((curve, k) => [curve, k]).reverse().forEach(([curve, k]) => {
    svg("path", { class: `line s${k % 6}` + (onPick && k === 0 ? " main" : ""), d: steps(curve.share) }, place);
  });
  if (!onPick) return () => {};
  const marker = svg("line", { class: "marker", y1: top, y2: height - bottom }, place);
  const dot = svg("circle", { class: "dot f0", r: 6 }, place);
  const value = svg("text", { class: "value" }, place);
  place.onclick = (event) => {
    const box = place.getBoundingClientRect();
    const where = ((event.clientX - box.left) / box.width) * width;
    onPick(Math.min(last, Math.max(0, Math.round(((where - left) / (width - left - right)) * last))));
  };
  return (r) => {
    const share = curves[0].share[r] ?? 0;
    const flip = r > last * 0.75;
    marker.setAttribute("x1", x(r)); marker.setAttribute("x2", x(r));
    dot.setAttribute("cx", x(r)); dot.setAttribute("cy", y(share));
    value.setAttribute("x", x(r) + (flip ? -11 : 11)); value.setAttribute("y", Math.max(top + 14, y(share) - 9));
    value.setAttribute("text-anchor", flip ? "end" : "start");
    value.textContent = percent(share);
  };
}

function legend(place, curves, firstIs) {
  curves.forEach((curve, k) => {
    const item = element("li");
    item.append(element("i", "", `f${k % 6}`), curve.name + (k === 0 && firstIs ? firstIs : ""));
    place.append(item);
  });
}

// ---- the slider ----
let moveMarker = () => {};
function setRadius(r) {
  radius = r;
  const slider = at("radius");
  if (slider) {
    if (Number(slider.value) !== r) slider.value = r;
    radius = r = Number(slider.value);
    at("radius-value").textContent = r;
  }
  const anything = `whatever is written into any ${r} of the ${grouped(facts.total)} ${facts.what}`;
  if (slider && !facts.curves.length) {
    slider.setAttribute("aria-valuetext", `${r} ${facts.what}: ${facts.widths[r]}`);
    at("share").textContent = facts.widths[r];
    at("sentence").textContent = r === 0 ? "With nobody attacking, every prediction is one value."
      : `The width of the interval that half of the ${grouped(facts.n_rows)} predictions stay inside of, ${anything}.`;
  }
  if (slider && facts.curves.length) {
    const share = facts.curves[0].share[r] ?? 0;
    const kept = Math.round(share * facts.n_rows);
    slider.setAttribute("aria-valuetext", `${r} ${facts.what}: ${percent(share)}`);
    at("share").textContent = percent(share);
    const inside = facts.tolerance !== null ? ` within ${facts.tolerance}` : facts.relative !== null ? ` within ${100 * facts.relative} %` : "";
    const stays = facts.known_truth
      ? (facts.of_values ? `predictions lie${inside} of the truth and stay there` : "predictions are right and stay right")
      : (facts.of_values ? `predictions stay${inside} of their value` : "predictions stay what they are");
    const who = r === 0 ? "with nobody attacking" : anything;
    at("sentence").textContent = `${grouped(kept)} of ${grouped(facts.n_rows)} ${stays}, ${who}.`;
    const together = facts.collective.find((one) => one.radius === r);
    at("together").textContent = !together ? "" :
      `One attacker who owns the same ${r} in every row changes at most ${grouped(together.changed)} of ${grouped(facts.n_rows)} predictions.`;
    moveMarker(r);
  }
  fillRows();
}

// ---- the table of rows ----
const votesText = (row) => {
  if (facts.of_values) return `${row.votes[0]} to ${row.votes[row.votes.length - 1]}`;
  const named = row.votes.map((count, k) => [count, facts.labels[k]]).filter(([count]) => count > 0).sort((a, b) => b[0] - a[0]);
  return named.slice(0, 3).map(([count, label]) => `${label}: ${count}`).join(" · ") + (named.length > 3 ? " · …" : "");
};
const intervalOf = (row) => (radius === 0 ? [row.prediction, row.prediction] : [row.low?.[radius - 1] ?? null, row.high?.[radius - 1] ?? null]);
const columns = [
  { name: "row", of: (row) => row.row },
  { name: "prediction", of: (row) => row.prediction },
  facts.known_truth && { name: "truth", of: (row) => row.truth },
  facts.curves.length && { name: "radius", of: (row) => row.radius },
  !facts.of_values && facts.labels.length > 1 && { name: "rival", of: (row) => row.rival },
  facts.of_values && { name: "interval", of: (row) => { const [low, high] = intervalOf(row); return low === null || high === null ? Infinity : high - low; } },
  { name: "votes", of: (row) => facts.of_values ? row.votes[row.votes.length - 1] - row.votes[0] : Math.max(...row.votes) },
  facts.curves.length && { name: "hangs on", of: (row) => row.hangs_on.length },
].filter(Boolean);
let sorted = { column: columns[0], down: false };
let page = 0;

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b));
  return a < b ? -1 : 1;
}

function chosenRows() {
  const text = at("find").value.trim().toLowerCase();
  const show = at("show").value;
  const rows = facts.rows.filter((row) => {
    const held = row.radius !== undefined && row.radius >= radius;
    if (show === "held" && !held) return false;
    if (show === "lost" && held) return false;
    if (show === "wrong" && row.right !== false) return false;
    if (!text) return true;
    return [row.row, row.prediction, row.truth, row.rival, ...(row.hangs_on ?? [])].some((cell) => String(cell ?? "").toLowerCase().includes(text));
  });
  const sign = sorted.down ? -1 : 1;
  return rows.sort((a, b) => sign * compare(sorted.column.of(a), sorted.column.of(b)) || a.row - b.row);
}

function votesCell(row) {
  const cell = element("td", null, "votes");
  const picture = svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, cell);
  if (facts.of_values) {
    const [low, high] = [row.votes[0], row.votes[row.votes.length - 1]];
    const x = (value) => (high > low ? 2 + (96 * (value - low)) / (high - low) : 50);
    const [from, to] = intervalOf(row);
    svg("rect", { class: "other", x: from === null ? 0 : x(from) - 1, width: Math.max(2, (to === null ? 100 : x(to) + 1) - (from === null ? 0 : x(from) - 1)), height: 8 }, picture);
    for (const value of row.votes) svg("rect", { class: "f0", x: x(value) - 0.5, width: 1, height: 8 }, picture);
  } else {
    const total = row.votes.reduce((sum, count) => sum + count, 0);
    const own = facts.labels.indexOf(row.prediction), rival = facts.labels.indexOf(row.rival);
    const parts = [[row.votes[own] ?? 0, "f0"], [rival >= 0 ? row.votes[rival] : 0, "f1"]];
    let x = 0;
    for (const [count, name] of parts) { svg("rect", { class: name, x, width: (100 * count) / total, height: 8 }, picture); x += (100 * count) / total; }
  }
  cell.append(element("small", votesText(row)));
  return cell;
}

function namesCell(names) {
  const cell = element("td", null, "names quiet");
  if (names.length <= SOME) { cell.textContent = names.join(", ") || "–"; return cell; }
  const more = element("details");
  more.append(element("summary", `any of ${names.length}`), names.join(", "));
  cell.append(more);
  return cell;
}

function fillRows() {
  const rows = chosenRows();
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  page = Math.min(page, pages - 1);
  const body = document.querySelector("#rows tbody");
  body.replaceChildren(...rows.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
    const line = element("tr", null, row.radius === undefined ? "" : row.radius >= radius ? "held" : "lost");
    for (const column of columns) {
      if (column.name === "votes") { line.append(votesCell(row)); continue; }
      if (column.name === "interval") {
        const [low, high] = intervalOf(row);
        line.append(element("td", `${low ?? "−∞"} … ${high ?? "∞"}`));
        continue;
      }
      if (column.name === "hangs on") { line.append(namesCell(row.hangs_on)); continue; }
      const text = String(column.of(row) ?? "–");
      const wrong = column.name === "prediction" && row.right === false;
      line.append(element("td", text + (wrong ? " ✗" : ""), column.name === "radius" ? "radius" : wrong ? "wrong" : "names"));
    }
    return line;
  }));
  at("shown").textContent = `${grouped(rows.length)} of ${grouped(facts.rows.length)} rows`;
  at("page").textContent = `${page + 1} of ${pages}`;
  at("before").disabled = page === 0;
  at("after").disabled = page === pages - 1;
  document.querySelectorAll("#show option").forEach((option) => { option.textContent = SHOW[option.value](); });
  const heading = document.querySelector("#rows th[data-name=interval] button");
  if (heading) heading.textContent = `interval at r = ${radius}`;
}

const SHOW = {
  all: () => "all rows",
  held: () => `certified at r = ${radius}`,
  lost: () => `not certified at r = ${radius}`,
  wrong: () => "wrong predictions",
};

function draw() {
  if (facts.curves.length) moveMarker = chart(at("curve"), facts.curves, null, setRadius);
  if (facts.swept) chart(at("envelope"), facts.swept.curves, [...facts.swept.best.map((one) => one.share), 0], null);
}

function start() {
  if (facts.curves.length) {
    legend(at("curve-legend"), facts.curves, facts.curves.length > 1 ? " (this model)" : "");
  }
  at("radius")?.addEventListener("input", (event) => setRadius(Number(event.target.value)));
  if (facts.swept) {
    legend(at("envelope-legend"), facts.swept.curves, "");
    const item = element("li");
    item.append(element("i", "", "best"), "best of all");
    at("envelope-legend").append(item);
  }
  draw();
  window.addEventListener("resize", () => { draw(); moveMarker(radius); });
  const extra = [facts.curves.length && "held", facts.curves.length && "lost", facts.rows.some((row) => row.right === false) && "wrong"];
  for (const value of extra.filter(Boolean)) { const option = element("option"); option.value = value; at("show").append(option); }
  const head = document.querySelector("#rows thead tr");
  for (const column of columns) {
    const cell = element("th");
    cell.scope = "col"; cell.dataset.name = column.name;
    const button = element("button", column.name);
    button.type = "button";
    button.addEventListener("click", () => {
      sorted = { column, down: sorted.column === column ? !sorted.down : false };
      head.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      page = 0; fillRows();
    });
    cell.append(button); head.append(cell);
  }
  head.firstChild.setAttribute("aria-sort", "ascending");
  at("find").addEventListener("input", () => { page = 0; fillRows(); });
  at("show").addEventListener("change", () => { page = 0; fillRows(); });
  at("before").addEventListener("click", () => { page -= 1; fillRows(); });
  at("after").addEventListener("click", () => { page += 1; fillRows(); });
  setRadius(Math.min(1, Number(at("radius")?.max ?? 0)));
}
start();
