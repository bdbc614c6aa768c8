// Step 7: copying the command and the Python.
export function wire(root) {
  for (const button of root.querySelectorAll('[data-copy]')) {
    button.addEventListener('click', async () => {
      const text = root.querySelector(`#${button.dataset.copy}`).textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'copied';
      } catch {
        getSelection().selectAllChildren(root.querySelector(`#${button.dataset.copy}`));
        button.textContent = 'selected: press Ctrl-C';
      }
    });
  }
}
