// ---- JSON whose integers keep all digits: JavaScript rounds past 2**53, so that those are {$int: "digits"}
const LITERALS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const rounded = (literal) => /^-?\d{16,}$/.test(literal) && !Number.isSafeInteger(Number(literal));

function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(LITERALS, (literal) => (rounded(literal) ? `{"$int":"${literal}"}` : literal)));
}

function stringify(value, space) {
  return JSON.stringify(value, null, space).replace(/\{\s*"\$int":\s*"(-?\d+)"\s*\}/g, "$1");
}

