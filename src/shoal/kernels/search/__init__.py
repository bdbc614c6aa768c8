"""Trees that find the nearest record or group without looking at all of them."""
