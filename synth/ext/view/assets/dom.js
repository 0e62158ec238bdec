// ---- DOM: text nodes only, and characters that hide or reorder text are shown as what they are
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const HIDDEN_ALL = new RegExp(HIDDEN.source, "g");

function visible(text, needle) {
  const nodes = [];
  let last = 0;
  if (HIDDEN.test(text)) {
    for (const match of text.matchAll(HIDDEN_ALL)) {
      nodes.push(...marked(text.slice(last, match.index), needle));
      const code = "U+" + match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      const span = document.createElement("span");
      span.className = "ctl";
      span.textContent = code;
      nodes.push(span);
      last = match.index + match[0].length;
    }
  }
  nodes.push(...marked(text.slice(last), needle));
  return nodes;
}

function marked(text, needle) {
  if (!text) return [];
  const words = needle || state.filters.q;
  if (!words || words.length < 2) return [document.createTextNode(text)];
  const nodes = [];
  const lower = text.toLowerCase();
  const wanted = words.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0 && nodes.length < 400; at = lower.indexOf(wanted, from)) {
    nodes.push(document.createTextNode(text.slice(from, at)));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + wanted.length);
    nodes.push(mark);
    from = at + wanted.length;
  }
  nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}

// A name that may wrap after its underscores.
const breakable = (name) => name.split(/(?<=_)/).flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part]));

function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...visible(String(child)));
  }
}

function svg(tag, props, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props || {})) element.setAttribute(name, value);
  append(element, children);
  return element;
}
