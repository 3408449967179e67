"""Everything that people do beside asking: reactions, buttons, forms, commands."""
