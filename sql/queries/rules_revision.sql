-- The revision of the rules in force; 0: there are none. One row. A handful of rows are read.
select coalesce(max(r.revision), 0) from order_timeout.rule r
