"""The process: settings and clients put together, HTTP or Socket Mode in front of Bolt, signals and logs."""
