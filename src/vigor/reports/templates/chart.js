// Charts answer: words beside the pointer, a legend that switches lines and shows one alone while pointed at, zoom by drawing a rectangle, a double click to go back.
const words = document.body.appendChild(document.createElement("div"));
words.className = "words";
document.addEventListener("pointerdown", () => words.style.display = "none", true);  // A finger that taps elsewhere.
document.querySelectorAll(".charts").forEach(group => {
  const buttons = [...group.querySelectorAll("[data-switch]")], parts = [...group.querySelectorAll("svg [data-key]")];
  const has = (part, button) => part.dataset.key.split("|").includes(button.dataset.switch);
  buttons.forEach(button => {
    button.onclick = () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      const off = buttons.filter(one => one.getAttribute("aria-pressed") !== "true");
      parts.forEach(part => part.style.display = off.some(one => has(part, one)) ? "none" : "");
    };
    button.onpointerenter = () => parts.forEach(part => part.classList.toggle("away", !has(part, button)));
    button.onpointerleave = () => parts.forEach(part => part.classList.remove("away"));
  });
});
document.querySelectorAll("svg.chart").forEach(chart => {
  const plot = chart.querySelector("svg"), whole = plot.getAttribute("viewBox");
  let begun = null, frame = null;
  const at = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
  const say = event => {
    const near = [[0, 0], [4, 0], [-4, 0], [0, 4], [0, -4]].map(([x, y]) => document.elementFromPoint(event.clientX + x, event.clientY + y));
    const name = near.map(part => part && part.dataset.name).find(Boolean);
    words.style.display = name ? "block" : "none";
    words.textContent = name || "";
    words.style.left = Math.min(event.pageX + 12, document.documentElement.clientWidth - 200) + "px";
    words.style.top = event.pageY + 14 + "px";
  };
  chart.addEventListener("pointerdown", say);
  chart.addEventListener("pointermove", event => {
    say(event);
    if (begun && frame) {
      const now = at(event);
      frame.setAttribute("d", `M${begun.x} ${begun.y}H${now.x}V${now.y}H${begun.x}Z`);
    }
  });
  chart.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") words.style.display = "none"; });
  plot.addEventListener("pointerdown", event => {
    if (event.pointerType === "touch") return;  // A finger scrolls.
    event.preventDefault();
    begun = at(event);
    frame = plot.appendChild(document.createElementNS(plot.namespaceURI, "path"));
    frame.setAttribute("class", "frame");
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointerup", event => {
    if (!begun) return;
    const now = at(event), low = [Math.min(begun.x, now.x), Math.min(begun.y, now.y)];
    const size = [Math.abs(begun.x - now.x), Math.abs(begun.y - now.y)];
    frame.remove();
    begun = frame = null;
    if (size[0] < 8 || size[1] < 8) return;
    plot.setAttribute("viewBox", [...low, ...size].join(" "));
    chart.classList.add("zoomed");
  });
  plot.addEventListener("dblclick", () => {
    plot.setAttribute("viewBox", whole);
    chart.classList.remove("zoomed");
  });
});
