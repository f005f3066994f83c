"""Making a dataset: samplers -> items -> splits -> audit -> tables; shards of any size; a pool here, Ray there."""
