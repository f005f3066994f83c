"""Review by people: samples to read blind, in the forms that annotators use, and what their answers say of the data."""
