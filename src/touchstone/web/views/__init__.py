"""What the templates show, made from what the API answered; nothing here asks anything."""
