// Step 2: the keys 1 to 5 on a row choose its role; typing finds columns among many.
export function wire(root) {
  const rows = [...root.querySelectorAll('tr[data-column]')];
  for (const row of rows) {
    row.addEventListener('keydown', (event) => {
      const choice = row.querySelector('[data-role]');
      const option = choice.options[Number(event.key) - 1];
      if (!option || event.target.matches('input') || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (choice.value === option.value) return;
      choice.value = option.value;
      choice.form.requestSubmit();
    });
  }
  const find = root.querySelector('#find-column');
  find?.addEventListener('input', () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.column.toLowerCase().includes(wanted);
    root.querySelector('#no-column').hidden = rows.some((row) => !row.hidden);
  });
}
