"""Methods that recode a value alike everywhere: bug, datafly, incognito."""
