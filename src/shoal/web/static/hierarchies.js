// Step 3: dragging nodes of the tree onto groups, and loading a file from elsewhere.
import { post } from '/static/page.js';

export function wire(root) {
  const editor = root.querySelector('#editor');
  if (!editor) return;
  const { column } = editor.dataset;
  editor.querySelector('#tree-file').addEventListener('change', async (event) => {
    const file = event.target.files[0];
    if (file) post('/hierarchies/load', { column, text: await file.text() });
  });
  let dragged = null;
  for (const row of editor.querySelectorAll('.tree li')) {
    row.addEventListener('dragstart', () => { dragged = row.dataset.node; });
    if (!row.classList.contains('group')) continue;
    row.addEventListener('dragover', (event) => {
      event.preventDefault();
      row.classList.add('over');
    });
    row.addEventListener('dragleave', () => row.classList.remove('over'));
    row.addEventListener('drop', (event) => {
      event.preventDefault();
      row.classList.remove('over');
      if (!dragged || dragged === row.dataset.node) return;
      const ticked = [...editor.querySelectorAll('[name=nodes]:checked')].map((one) => one.value);
      const nodes = ticked.includes(dragged) ? ticked : [dragged];
      post('/hierarchies/change', { column, what: 'move', nodes, name: row.dataset.node });
    });
  }
}
