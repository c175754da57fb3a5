-- The migrations applied so far. Rows: version, name, in the order of versions. Index: the primary key.
select version, name from order_timeout.schema_version order by version
