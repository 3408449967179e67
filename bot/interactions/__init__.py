"""What people do besides asking: reactions, buttons, forms, commands."""
