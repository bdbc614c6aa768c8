// Step 2: the keys 1 to 5 on a row choose its role; typing finds columns among many.
import { whenShown } from '/static/flow.js';

document.addEventListener('keydown', (event) => {
  const row = event.target.closest?.('tr[data-column]');
  if (!row || event.target.matches('input') || event.ctrlKey || event.altKey || event.metaKey) return;
  const choice = row.querySelector('[data-role]');
  const option = choice.options[Number(event.key) - 1];
  if (!option) return;
  event.preventDefault();
  if (choice.value === option.value) return;
  choice.value = option.value;
  choice.form.requestSubmit();
});

document.addEventListener('input', (event) => {
  if (event.target.id === 'find-column') sift();
});

function sift() {
  const find = document.getElementById('find-column');
  if (!find) return;
  const wanted = find.value.trim().toLowerCase();
  const rows = [...document.querySelectorAll('tr[data-column]')];
  for (const row of rows) row.hidden = !row.dataset.column.toLowerCase().includes(wanted);
  document.getElementById('no-column').hidden = rows.some((row) => !row.hidden);
}

whenShown.push(sift);
