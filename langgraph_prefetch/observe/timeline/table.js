// Every mark as a row; built when it is asked for.
const COLUMNS = ["Step", "Start (s)", "Seconds", "What", "Query", "Outcome", "Why and how long"];

function table(runs) {
  const holder = document.getElementById("table");
  const build = () => {
    if (!holder.open || holder.querySelector("table")) return;
    for (const run of runs) {
      const element = document.createElement("table");
      element.createCaption().textContent = `Run ${run.id}`;
      const head = element.createTHead().insertRow();
      for (const name of COLUMNS) {
        const cell = document.createElement("th");
        cell.scope = "col";
        cell.textContent = name;
        head.append(cell);
      }
      const body = element.createTBody();
      for (const { kind, mark } of run.marks) {
        const said = words(kind, mark);
        const cells = [said.step, said.start.toFixed(2), said.seconds.toFixed(2), said.what, said.query, said.outcome, said.why];
        const row = body.insertRow();
        cells.forEach((text, column) => {
          const cell = row.insertCell();
          cell.textContent = text;
          if (column < 3) cell.className = "number";
        });
      }
      holder.append(element);
    }
  };
  holder.addEventListener("toggle", build);
  if (location.hash === "#table") holder.open = true;
  document.querySelector(".skip").addEventListener("click", () => { holder.open = true; });
}
