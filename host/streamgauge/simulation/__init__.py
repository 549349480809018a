"""A made-up home: who lives there, who annotates it, and a recogniser that gets it partly right."""
