"""What an agent may ask as the person whom it acts for, and what it may propose to them."""
