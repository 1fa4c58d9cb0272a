"""The process: builds the clients from the settings, and runs HTTP or Socket Mode in front of Bolt, signals and logs."""
