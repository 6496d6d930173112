// The script of a report: sorts and filters tables, zooms the timeline, says what a mark is.
// It loads nothing, stores nothing, and writes text only as text.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const FIRST_ROWS = 15;
const UNKNOWN = "\u2013";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// -- the tooltip ------------------------------------------------------------------------------

const tip = document.getElementById("tip");
let focused = null; // tells the tip of the mark with the focus, which can move

function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}

function hideTip() {
  tip.hidden = true;
}

document.addEventListener("scroll", () => focused?.(), { passive: true, capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  focused = null;
  hideTip();
});

// -- tables -----------------------------------------------------------------------------------

// Cells of a column have one unit, so their numbers can be compared; unknown ones come last.
function valueOf(text) {
  const plain = text.trim();
  if (plain === UNKNOWN || plain === "") return null;
  if (plain.startsWith("<")) return Number(plain.slice(1)) / 2;
  return Number(plain.replaceAll(",", ""));
}

function compared(a, b, isNumber) {
  if (!isNumber) return a.localeCompare(b, "en", { numeric: true });
  return a - b;
}

function sortBy(table, head) {
  const place = all("th", table).indexOf(head);
  const isNumber = head.classList.contains("n");
  const before = head.getAttribute("aria-sort");
  const isDown = before === null ? isNumber : before === "ascending";
  all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const keyed = all("tbody tr", table).map((row) => {
    const text = row.cells[place].textContent;
    return [row, isNumber ? valueOf(text) : text.trim() === UNKNOWN ? null : text];
  });
  keyed.sort(([, a], [, b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return isDown ? compared(b, a, isNumber) : compared(a, b, isNumber);
  });
  table.tBodies[0].append(...keyed.map(([row]) => row));
}

function setUpTable(table) {
  const box = table.closest(".table");
  const rows = () => all("tbody tr", table);
  const filter = box.querySelector("input[type=search]");
  const columns = box.querySelector("input.columns");
  const count = box.querySelector(".count");
  const total = Number(table.dataset.total);
  const texts = new Map(rows().map((row) => [
    row,
    [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join(" ").toLowerCase(),
  ]));
  let isWhole = texts.size <= FIRST_ROWS;
  const more = document.createElement("button");
  more.type = "button";
  more.className = "rows";
  if (!isWhole) box.querySelector(".tools").append(more);

  function show() {
    const wanted = filter ? filter.value.trim().toLowerCase() : "";
    const fitting = rows().filter((row) => texts.get(row).includes(wanted));
    const shown = new Set(isWhole ? fitting : fitting.slice(0, FIRST_ROWS));
    rows().forEach((row) => { row.hidden = !shown.has(row); });
    const of = wanted ? `${fitting.length.toLocaleString("en")} matching` : total.toLocaleString("en");
    if (count) count.textContent = `${shown.size.toLocaleString("en")} of ${of} rows`;
    more.textContent = isWhole ? "Fewer rows" : `Show ${texts.size.toLocaleString("en")} rows`;
  }

  filter?.addEventListener("input", show);
  more.addEventListener("click", () => { isWhole = !isWhole; show(); });
  columns?.addEventListener("change", () => table.classList.toggle("all", columns.checked));
  all("th", table).forEach((head) => head.querySelector("button").addEventListener("click", () => {
    sortBy(table, head);
    show();
  }));
  show();
}

// -- marks of pictures --------------------------------------------------------------------------

// One mark can be reached with Tab, the others from it with the arrow keys.
function setUpPlot(plot) {
  const marks = all(".mark", plot);
  const tell = (mark) => {
    const { x, y, width, height } = mark.getBoundingClientRect();
    showTip(mark.getAttribute("aria-label"), x + width / 2, y + height / 2);
  };
  marks.forEach((mark, place) => {
    mark.setAttribute("tabindex", place ? "-1" : "0");
    mark.addEventListener("pointermove", (event) => {
      showTip(mark.getAttribute("aria-label"), event.clientX, event.clientY);
    });
    mark.addEventListener("pointerleave", hideTip);
    mark.addEventListener("focus", () => {
      focused = () => tell(mark);
      focused();
    });
    mark.addEventListener("blur", () => {
      focused = null;
      hideTip();
    });
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = marks[(place + step + marks.length) % marks.length];
      mark.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  });
}

// -- the timeline -----------------------------------------------------------------------------

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function timeText(ns) {
  const [factor, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3];
  return `${Number((ns / factor).toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 })} ${unit}`;
}

// Pieces with their own start and end, from columns of differences.
function piecesOf(track) {
  let start = 0;
  return track.k.map((kind, place) => {
    start += track.o[place];
    const dur = track.d[place];
    const sum = track.s[place] || dur;
    return { kind, start, dur, sum, count: track.c[place] || 1, name: track.n[place] };
  });
}

// The share of each column of pixels that each kind takes.
function sharesOf(pieces, kindCount, from, to, width) {
  const shares = Array.from({ length: kindCount }, () => null);
  const scale = width / (to - from);
  for (const { kind, start, dur, sum } of pieces) {
    const left = Math.max(0, (start - from) * scale);
    const right = Math.min(width, (start + dur - from) * scale);
    if (right < 0 || left >= width || right < left) continue;
    shares[kind] ??= new Float64Array(width);
    const density = dur ? Math.min(1, sum / dur) : 1;
    for (let column = Math.floor(left); column < width && column <= right; column += 1) {
      shares[kind][column] += density * Math.max(0, Math.min(right, column + 1) - Math.max(left, column));
    }
  }
  return shares;
}

// A path of the columns of one kind upon those drawn before; `below` is raised by it.
function pathOf(share, below, width, height) {
  const parts = [];
  let first = 0, low = 0, high = 0;
  for (let column = 0; column <= width; column += 1) {
    const value = column < width ? share[column] : 0;
    const bottom = column < width ? below[column] : 0;
    let top = value > 0 ? Math.min(height, bottom + Math.max(1, Math.round(2 * height * value) / 2)) : bottom;
    if (value === 0) top = bottom;
    const isSame = column > 0 && column < width && bottom === low && top === high;
    if (!isSame) {
      if (high > low) parts.push(`M${first} ${height - low}V${height - high}H${column}V${height - low}z`);
      first = column; low = bottom; high = top;
    }
    if (column < width) below[column] = top;
  }
  return parts.join("");
}

function draw(parent, name, attributes) {
  const child = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
  parent.append(child);
  return child;
}

function setUpTimeline(box) {
  const data = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
  const tracks = data.groups.flatMap((group) => group.tracks.map(piecesOf));
  const strips = all(".strip", box);
  const end = Math.max(...data.groups.map((group) => group.elapsed), 1);
  const range = box.querySelector(".range"), said = box.querySelector(".piece");
  let from = 0, to = end, cursor = null;

  function drawTrack(strip, pieces) {
    const width = Math.max(10, Math.floor(strip.clientWidth)), height = strip.clientHeight || 22;
    strip.setAttribute("viewBox", `0 0 ${width} ${height}`);
    strip.setAttribute("preserveAspectRatio", "none");
    strip.replaceChildren();
    const below = new Float64Array(width);
    sharesOf(pieces, data.kinds.length, from, to, width).forEach((share, kind) => {
      if (share) draw(strip, "path", { d: pathOf(share, below, width, height), class: data.kinds[kind][0] });
    });
    if (strip.classList.contains("s-step")) {
      for (const { start } of pieces) {
        const x = ((start - from) / (to - from)) * width;
        if (x > 0 && x < width) draw(strip, "path", { d: `M${x} 0V${height}`, class: "edge" });
      }
    }
    if (cursor && cursor.strip === strip) {
      const { start, dur } = cursor.piece, scale = width / (to - from);
      const x = Math.max(0, (start - from) * scale);
      draw(strip, "rect", {
        x, y: 0.75, height: height - 1.5, class: "cursor",
        width: Math.max(2, Math.min(width, (start + dur - from) * scale) - x),
      });
    }
  }

  function drawTimes() {
    const svg = box.querySelector(".times"), width = svg.clientWidth;
    svg.replaceChildren();
    const raw = (to - from) / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= raw);
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = ((time - from) / (to - from)) * width;
      draw(svg, "path", { d: `M${x} 0v4` });
      const anchor = x < 25 ? "start" : x > width - 30 ? "end" : "middle";
      draw(svg, "text", { x, y: 16, "text-anchor": anchor }).textContent = timeText(time);
    }
  }

  function show() {
    strips.forEach((strip, place) => drawTrack(strip, tracks[place]));
    drawTimes();
    range.textContent = `${timeText(from)} to ${timeText(to)} of ${timeText(end)}`;
  }

  function look(first, last) {
    const length = Math.min(Math.max(last - first, 10), end);
    from = Math.min(Math.max(0, first), end - length);
    to = from + length;
    show();
  }

  const zoom = (factor, around = (from + to) / 2) =>
    look(around - (around - from) * factor, around + (to - around) * factor);
  const pan = (share) => look(from + share * (to - from), to + share * (to - from));
  const actions = {
    in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.25), right: () => pan(0.25),
    all: () => look(0, end),
  };

  function textOf({ kind, start, dur, sum, count, name }) {
    const what = data.kinds[kind][1];
    const when = `${what}: ${timeText(start)} + ${timeText(dur)}`;
    const many = count > 1 ? `, ${count.toLocaleString("en")} in ${timeText(sum)}` : "";
    return `${when}${many}${name >= 0 ? `\n${data.names[name]}` : ""}`;
  }

  // The shortest piece at a time, or the nearest within three pixels.
  function pieceAt(pieces, time, slack) {
    let best = null, bestKey = Infinity;
    for (const piece of pieces) {
      const away = Math.max(piece.start - time, time - piece.start - piece.dur, 0);
      const key = away ? end + away : piece.dur;
      if (away <= slack && key < bestKey) { best = piece; bestKey = key; }
    }
    return best;
  }

  function setUpStrip(strip, pieces) {
    const timeAt = (event) => {
      const { left, width } = strip.getBoundingClientRect();
      return from + (Math.min(Math.max(event.clientX - left, 0), width) / width) * (to - from);
    };
    let pressed = null;
    strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      pressed = timeAt(event);
      strip.setPointerCapture(event.pointerId);
    });
    strip.addEventListener("pointermove", (event) => {
      const time = timeAt(event);
      strip.querySelector(".chosen")?.remove();
      if (pressed !== null) {
        const width = strip.viewBox.baseVal.width, place = (at) => ((at - from) / (to - from)) * width;
        draw(strip, "rect", {
          x: place(Math.min(pressed, time)), y: 0, height: "100%", class: "chosen",
          width: Math.abs(place(time) - place(pressed)),
        });
      }
      const slack = (3 * (to - from)) / strip.clientWidth;
      const piece = pieceAt(pieces, time, slack);
      if (piece) showTip(textOf(piece), event.clientX, event.clientY);
      else hideTip();
    });
    strip.addEventListener("pointerup", (event) => {
      const [first, last] = [pressed, timeAt(event)].sort((a, b) => a - b);
      const isRange = pressed !== null && last - first > (4 * (to - from)) / strip.clientWidth;
      pressed = null;
      if (isRange) look(first, last);
      else strip.querySelector(".chosen")?.remove();
    });
    strip.addEventListener("pointerleave", hideTip);
    strip.addEventListener("dblclick", actions.all);
    strip.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // without Ctrl, the page scrolls
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
    }, { passive: false });
    strip.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) move(strip, pieces, step);
      else if (event.key === "+" || event.key === "=") zoom(0.5, around());
      else if (event.key === "-") zoom(2, around());
      else if (event.key === "0" || event.key === "Home") actions.all();
      else return;
      event.preventDefault();
    });
  }

  function around() {
    return cursor ? cursor.piece.start + cursor.piece.dur / 2 : (from + to) / 2;
  }

  // To the next piece on a track, from the one chosen there, or into the part that is seen.
  function move(strip, pieces, step) {
    const place = cursor && cursor.strip === strip ? pieces.indexOf(cursor.piece) + step
      : pieces.findIndex(({ start, dur }) => start + dur >= from);
    const piece = pieces[Math.min(Math.max(place, 0), pieces.length - 1)];
    cursor = { strip, piece };
    said.textContent = textOf(piece);
    const isSeen = piece.start >= from && piece.start + piece.dur <= to;
    if (isSeen || piece.dur > to - from) show();
    else look(around() - (to - from) / 2, around() + (to - from) / 2);
  }

  strips.forEach((strip, place) => setUpStrip(strip, tracks[place]));
  all("[data-do]", box).forEach((button) => button.addEventListener("click", actions[button.dataset.do]));
  new ResizeObserver(show).observe(box);
  addEventListener("beforeprint", show);
  show();
}

// -- printing -----------------------------------------------------------------------------------

addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));

all("table").forEach(setUpTable);
all(".plot").forEach(setUpPlot);
all(".timeline").forEach(setUpTimeline);
