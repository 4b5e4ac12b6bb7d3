"""`python -I -m heal_bot` is the command line."""

from heal_bot.cli.main import main

if __name__ == "__main__":
    main()
