"""What tests stand on: databases, programs, payloads, places, and the checks that several of them share."""
