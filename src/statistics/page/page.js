"use strict";
// Draws what trace_page.cpp wrote into #trace: lanes, and seven numbers an event.

const activities = [  // in the order of trace_activity
  {name: "reading", text: "reading", busy: true},
  {name: "copying", text: "copying", busy: true},
  {name: "computing", text: "computing", busy: true},
  {name: "starved", text: "waits for input", busy: false},
  {name: "stalled", text: "waits for room", busy: false},
];
const axisHeight = 30, laneHeight = 32, barHeight = 22, overviewHeight = 40;
const waitShare = 0.36;  // of a bar's height: waiting is drawn thinner than work
const fields = 7;  // lane, activity, begin, duration, epoch, batch (or -1), batches

const trace = JSON.parse(document.getElementById("trace").textContent);
const element = (id) => document.getElementById(id);
const timeline = element("timeline"), canvas = element("lanes"), overview = element("overview");

function readLanes() {
  const all = trace.lanes.map((lane) => ({...lane, events: []}));
  for (let at = 0; at < trace.events.length; at += fields) {
    const [lane, activity, begin, duration, epoch, batch, batches] =
        trace.events.slice(at, at + fields);
    all[lane].events.push({lane, activity, begin, end: begin + duration, epoch, batch, batches});
  }
  return all;  // each in order of its begin: the page was written so
}

const lanes = readLanes();
const events = lanes.flatMap((lane) => lane.events);
const first = events.reduce((least, event) => Math.min(least, event.begin), events[0]?.begin ?? 0);
const last = events.reduce((most, event) => Math.max(most, event.end), first + 1);
const whole = {from: first, to: last};
let view = {...whole};
let pointed = null;  // the event under the pointer
let pointerX = null;

// ---- Text

function duration(ns, digits = 4) {
  const units = ["ns", "µs", "ms", "s"];
  let unit = 0;
  while (unit < 3 && Math.abs(ns) >= 1000) { ns /= 1000; ++unit; }
  return `${Number(ns.toPrecision(digits))} ${units[unit]}`;
}
function percent(share) {
  if (share === 0) return "–";
  return share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
}
function batchesOf(event) {
  if (event.batch < 0) return "";
  if (event.batches <= 1) return `batch ${event.batch}`;
  return `batches ${event.batch} to ${event.batch + event.batches - 1}`;
}
function add(parent, tag, text = "", properties = {}) {
  const child = document.createElement(tag);
  child.textContent = text;
  Object.assign(child, properties);
  parent.append(child);
  return child;
}

// ---- What is in view

/** The first event of a lane that ends behind a time. */
function firstBehind(list, time) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].end > time) high = middle; else low = middle + 1;
  }
  return low;
}
function* eventsIn(lane, from, to) {
  for (let i = firstBehind(lane.events, from); i < lane.events.length; ++i) {
    if (lane.events[i].begin >= to) return;
    yield lane.events[i];
  }
}
/** Shares of the time in view for each activity of a lane, and the count of its events there. */
function sharesOf(lane) {
  const shares = activities.map(() => 0);
  let count = 0;
  for (const event of eventsIn(lane, view.from, view.to)) {
    ++count;
    const taken = Math.min(event.end, view.to) - Math.max(event.begin, view.from);
    shares[event.activity] += taken / (view.to - view.from);
  }
  const busy = shares.reduce((sum, share, i) => sum + (activities[i].busy ? share : 0), 0);
  return {shares, count, busy};
}

// ---- Drawing

let colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "line", "text", "faint", "mark", ...activities.map((each) => each.name)])
    colors[name] = style.getPropertyValue(`--${name}`).trim();
}
/** A canvas of so many pixels of CSS, sharp on any display. */
function prepare(target, height) {
  const ratio = window.devicePixelRatio || 1, width = Math.max(timeline.clientWidth, 50);
  target.width = Math.round(width * ratio);
  target.height = Math.round(height * ratio);
  target.style.height = `${height}px`;
  const to = target.getContext("2d");
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  to.font = "11px system-ui, sans-serif";
  return {to, width};
}
function drawAxis(to, width, height) {
  const span = view.to - view.from, least = span / Math.max(width / 130, 2);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= least);
  to.textAlign = "center";
  for (let at = Math.ceil((view.from - first) / step) * step; at <= view.to - first; at += step) {
    const x = (at + first - view.from) / span * width;
    to.fillStyle = colors.line;
    to.fillRect(x, axisHeight - 8, 1, height - axisHeight + 8);
    to.fillStyle = colors.faint;
    const digits = Math.max(4, Math.ceil(Math.log10(Math.max(at / step, 1))) + 2);
    const text = Math.abs(at) < step / 2 ? "0" : duration(at, digits);
    const half = to.measureText(text).width / 2 + 2;
    to.fillText(text, Math.min(Math.max(x, half), width - half), 15);
  }
}
const sameBatch = (a, b) => a === b || (a.batch >= 0 && b.batch >= 0 && a.epoch === b.epoch &&
    a.batch < b.batch + b.batches && b.batch < a.batch + a.batches);

/**
 * Draws one lane. Events of a pixel and more are bars; shorter ones share their pixel, each
 * activity by its part of the time.
 */
function drawLane(to, lane, y, height, range, width, mark) {
  const scale = width / (range.to - range.from);
  let column = -1, parts = null;
  const flush = () => {
    if (!parts) return;
    let bottom = y + height;
    parts.forEach((part, i) => {
      if (part === 0) return;
      const share = Math.max(Math.min(part * scale, 1) * height, 0.5);
      to.globalAlpha = mark ? 0.35 : 1;
      to.fillStyle = colors[activities[i].name];
      to.fillRect(column, bottom - share, 1, share);
      bottom -= share;
    });
    parts = null;
  };
  for (const event of eventsIn(lane, range.from, range.to)) {
    const begin = Math.max((event.begin - range.from) * scale, -2);
    const end = Math.min((event.end - range.from) * scale, width + 2);
    if (end - begin < 1) {
      if (Math.floor(begin) !== column) { flush(); column = Math.floor(begin); }
      parts ??= activities.map(() => 0);
      parts[event.activity] += event.end - event.begin;
      continue;
    }
    flush();
    const gap = end - begin > 4 ? 0.75 : 0;
    to.globalAlpha = mark && !sameBatch(mark, event) ? 0.25 : 1;
    to.fillStyle = colors[activities[event.activity].name];
    const tall = activities[event.activity].busy ? height : Math.max(height * waitShare, 1);
    to.fillRect(begin, y + (height - tall) / 2, end - begin - gap, tall);
    const from = Math.max(begin, 0), to_ = Math.min(end, width);
    if (height < barHeight || event.batch < 0 || !activities[event.activity].busy) continue;
    const label = event.batches > 1 ? `${event.batch}–${event.batch + event.batches - 1}`
                                    : `${event.batch}`;
    if (to_ - from < 10 + 7 * label.length) continue;
    to.fillStyle = "#ffffff";
    to.textAlign = "center";
    to.fillText(label, (from + to_) / 2, y + height / 2 + 4);
  }
  flush();
  to.globalAlpha = 1;
}
function drawOverview() {
  const {to, width} = prepare(overview, overviewHeight);
  const height = Math.max((overviewHeight - 8) / Math.max(lanes.length, 1), 1);
  lanes.forEach((lane, i) => {
    drawLane(to, lane, 4 + i * height, Math.max(height - 1, 1), whole, width, null);
  });
  const scale = width / (whole.to - whole.from);
  const from = (view.from - whole.from) * scale, till = (view.to - whole.from) * scale;
  to.globalAlpha = 0.6;
  to.fillStyle = colors.back;
  to.fillRect(0, 0, from, overviewHeight);
  to.fillRect(till, 0, width - till, overviewHeight);
  to.globalAlpha = 1;
  to.strokeStyle = colors.text;
  to.strokeRect(from + 0.5, 0.5, Math.max(till - from - 1, 2), overviewHeight - 1);
}
/** A line for each mark in view, and its text where the one before leaves room for it. */
function drawMarks(to, width, height) {
  let free = 0;
  to.textAlign = "left";
  to.fillStyle = colors.mark;
  for (const mark of trace.marks.filter(({at}) => view.from <= at && at <= view.to)) {
    const x = (mark.at - view.from) / (view.to - view.from) * width;
    to.fillRect(x - 1, 18, 2, height - 18);
    if (x < free) continue;
    to.fillText(mark.text, x + 4, 27);
    free = x + 10 + to.measureText(mark.text).width;
  }
}
function draw() {
  const height = axisHeight + laneHeight * lanes.length;
  const {to, width} = prepare(canvas, height);
  drawAxis(to, width, height);
  const inset = (laneHeight - barHeight) / 2;
  lanes.forEach((lane, i) => {
    const y = axisHeight + i * laneHeight;
    drawLane(to, lane, y + inset, barHeight, view, width, pointed?.batch >= 0 ? pointed : null);
  });
  drawMarks(to, width, height);
  if (pointerX !== null) {
    to.fillStyle = colors.faint;
    to.fillRect(pointerX, 18, 1, height - 18);
  }
}
function showShares() {
  let drawn = 0;
  lanes.forEach((lane) => {
    const {shares, count, busy} = sharesOf(lane);
    drawn += count;
    lane.busyText.textContent = percent(busy);
    lane.parts.forEach((part, i) => { part.style.width = `${100 * shares[i]}%`; });
    [count, percent(busy), ...shares.map(percent)].forEach((text, i) => {
      lane.cells[i].textContent = text;
    });
  });
  timeline.dataset.from = view.from;
  timeline.dataset.to = view.to;
  timeline.dataset.events = drawn;
  const away = view.from - first;
  element("range").textContent = events.length === 0 ? "" :
      `${duration(view.to - view.from)}, from ${away === 0 ? "0" : duration(away)}`;
}
let planned = false;
/** Draws once before the next picture of the screen, however often it is asked for. */
function refresh() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    draw();
    drawOverview();
  });
}

// ---- Moving

function show(from, to) {
  const length = Math.min(Math.max(to - from, 10), whole.to - whole.from);
  from = Math.min(Math.max(from, whole.from), whole.to - length);
  view = {from, to: from + length};
  showShares();
  refresh();
}
const timeAt = (x) => view.from + x / timeline.clientWidth * (view.to - view.from);
function zoom(factor, x = timeline.clientWidth / 2) {
  const at = timeAt(x);
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
function move(share) {
  const by = share * (view.to - view.from);
  show(view.from + by, view.to + by);
}
const showAll = () => show(whole.from, whole.to);

timeline.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pixels = event.deltaMode === 1 ? 16 : 1;  // some browsers count lines
  const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey)
    move(across * pixels / timeline.clientWidth);
  else
    zoom(Math.exp(event.deltaY * pixels * 0.002), event.offsetX);
}, {passive: false});

let grabbed = null;
canvas.addEventListener("pointerdown", (event) => {
  grabbed = event.clientX;
  try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that has gone */ }
});
canvas.addEventListener("pointerup", () => { grabbed = null; });
canvas.addEventListener("pointermove", (event) => {
  pointerX = event.offsetX;
  if (grabbed !== null) {
    move((grabbed - event.clientX) / timeline.clientWidth);
    grabbed = event.clientX;
  }
  point(event);
  refresh();
});
canvas.addEventListener("pointerleave", () => {
  pointerX = null;
  pointed = null;
  element("tip").hidden = true;
  refresh();
});
overview.addEventListener("pointerdown", (event) => {
  const at = whole.from + event.offsetX / timeline.clientWidth * (whole.to - whole.from);
  const half = (view.to - view.from) / 2;
  show(at - half, at + half);
});
timeline.addEventListener("dblclick", showAll);
timeline.addEventListener("keydown", (event) => {
  const action = {
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": showAll,
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
element("closer").onclick = () => zoom(0.6);
element("wider").onclick = () => zoom(1 / 0.6);
element("whole").onclick = showAll;

// ---- The bar under the pointer

function point(event) {
  const lane = lanes[Math.floor((event.offsetY - axisHeight) / laneHeight)];
  const reach = (view.to - view.from) / timeline.clientWidth;  // a pixel
  const time = timeAt(event.offsetX);
  pointed = null;
  for (const each of lane ? eventsIn(lane, time - reach, time + reach) : []) {
    if (!pointed || each.begin <= time) pointed = each;
  }
  const tip = element("tip");
  tip.hidden = !pointed;
  if (!pointed) return;
  tip.replaceChildren();
  add(tip, "b", activities[pointed.activity].text);
  const batches = batchesOf(pointed);
  tip.append(batches ? `, ${batches}` : "");
  add(tip, "div", `${duration(pointed.end - pointed.begin)}, ` +
      `from ${duration(pointed.begin - first, 6)} to ${duration(pointed.end - first, 6)}`);
  add(tip, "div", `${lane.name}, epoch ${pointed.epoch}`);
  tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
  tip.style.top = `${event.clientY + 18}px`;
}

// ---- What stands around the picture

function build() {
  const dropped = lanes.reduce((sum, lane) => sum + lane.dropped, 0);
  const epochs = [...new Set(events.map((event) => event.epoch))].sort((a, b) => a - b);
  const facts = events.length === 0 ? ["No events"] : [
    duration(whole.to - whole.from),
    epochs.length === 1 ? `epoch ${epochs[0]}` : `epochs ${epochs[0]} to ${epochs.at(-1)}`,
    `${events.length} events`];
  if (dropped > 0) facts.push(`${dropped} earlier events were not kept`);
  element("facts").textContent = facts.join(" · ");

  activities.forEach(({name, text}) => {
    const entry = add(element("legend"), "li");
    add(entry, "i").style.background = `var(--${name})`;
    entry.append(text);
  });
  const head = element("summary").tHead.insertRow();
  ["lane", "kind", "events", "busy", ...activities.map((each) => each.text), "not kept"]
      .forEach((text) => add(head, "th", text));
  lanes.forEach((lane) => {
    const row = add(element("names"), "div", "", {className: "name"});
    const name = add(row, "span", lane.name);
    if (lane.kind === "stream") add(name, "span", "stream", {className: "kind"});
    const share = add(row, "span", "", {className: "share"});
    lane.parts = activities.map((each) => {
      const part = add(share, "i", "", {title: each.text});
      part.style.background = `var(--${each.name})`;
      return part;
    });
    lane.busyText = add(row, "span", "", {className: "busy", title: "busy, of the time shown"});
    const line = element("summary").tBodies[0].insertRow();
    add(line, "td", lane.name);
    add(line, "td", lane.kind);
    lane.cells = [...Array(2 + activities.length)].map(() => add(line, "td"));
    add(line, "td", lane.dropped);
  });
}

build();
readColors();
showAll();
new ResizeObserver(refresh).observe(timeline);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColors();
  refresh();
});
timeline.dataset.ready = "yes";
