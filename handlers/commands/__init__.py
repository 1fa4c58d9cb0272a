"""What a person can ask for, as values. Help, usage and the README's table are made of these classes."""
