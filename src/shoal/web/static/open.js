// Step 1: a file dropped on the page, or chosen with the browser's own dialogue.
import { post } from '/static/page.js';

export function wire(root) {
  const drop = root.querySelector('#drop');
  const take = (file) => {
    if (!file) return;
    post('/open/drop', file, { headers: { 'x-file-name': encodeURIComponent(file.name) }, then: '/columns' });
  };
  drop.querySelector('input').addEventListener('change', (event) => take(event.target.files[0]));
  drop.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    take(event.dataTransfer.files[0]);
  });
}
