// A click on a column's head sorts its table.
const number = cell => {
  const text = cell.textContent.trim(), value = parseFloat(text);
  return isNaN(value) ? text : value;
};
document.querySelectorAll("th").forEach(head => head.onclick = () => {
  const column = head.cellIndex, body = head.closest("table").tBodies[0], up = head.dataset.up !== "1";
  head.dataset.up = up ? "1" : "0";
  const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  [...body.rows].sort((a, b) => (up ? 1 : -1) * order(number(a.cells[column]), number(b.cells[column])))
    .forEach(row => body.append(row));
});
