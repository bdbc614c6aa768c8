"""Privacy models kept where a method cannot: mending and withholding. No method of its own."""
