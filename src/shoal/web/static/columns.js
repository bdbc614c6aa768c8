// Step 2: the keys 1 to 9 on a row choose its role; typing finds columns among many, and those found can get a role at once.
import { post, whenShown } from '/static/flow.js';

document.addEventListener('keydown', (event) => {
  const row = event.target.closest?.('tr[data-column]');
  if (!row || event.target.matches('input') || event.ctrlKey || event.altKey || event.metaKey) return;
  const choice = row.querySelector('[data-role]');
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step && event.target === choice) {
    event.preventDefault();
    const shown = shownRows();
    shown[shown.indexOf(row) + step]?.querySelector('[data-role]').focus();
    return;
  }
  const option = [...choice.options].filter((one) => one.value)[Number(event.key) - 1];
  if (!option) return;
  event.preventDefault();
  if (choice.value === option.value) return;
  choice.value = option.value;
  choice.form.requestSubmit();
});

document.addEventListener('input', (event) => {
  if (event.target.id === 'find-column') sift();
});

const shownRows = () => [...document.querySelectorAll('tr[data-column]:not([hidden])')];

document.addEventListener('change', (event) => {
  const choice = event.target;
  if (choice.id !== 'role-all' || !choice.value) return;
  post('columns/roles', { columns: shownRows().map((row) => row.dataset.column), role: choice.value });
  choice.value = '';
});

function sift() {
  const find = document.getElementById('find-column');
  if (!find) return;
  const wanted = find.value.trim().toLowerCase();
  const rows = [...document.querySelectorAll('tr[data-column]')];
  for (const row of rows) row.hidden = !row.dataset.column.toLowerCase().includes(wanted);
  document.getElementById('no-column').hidden = shownRows().length > 0;
  const number = document.getElementById('shown-columns');
  if (number) number.textContent = shownRows().length;
}

whenShown.push(sift);
