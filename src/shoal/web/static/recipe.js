// The recipe: load one from a file.
import { post } from '/static/page.js';

export function wire(root) {
  root.querySelector('#recipe-file').addEventListener('change', async (event) => {
    const file = event.target.files[0];
    if (file) post('/history/load', { text: await file.text() });
  });
}
