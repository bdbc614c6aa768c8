// Step 7: copying the command and the Python.
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const text = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = 'copied';
  } catch {
    getSelection().selectAllChildren(text);
    button.textContent = 'selected: press Ctrl-C';
  }
});
