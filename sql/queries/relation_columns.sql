-- The columns of one table of the shop, before our views are made over it.
-- $1 the table's quoted name. Rows: name, type (of a domain: its base type), kind (e: enum), labels (of an enum);
-- one row with NULLs where the table has no columns, none where it does not exist. Index: the catalogue's own.
select a.attname, format_type(b.oid, null), b.typtype,
       (select string_agg(e.enumlabel, chr(10) order by e.enumsortorder) from pg_enum e where e.enumtypid = b.oid)
  from pg_class c
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_type t on t.oid = a.atttypid
  left join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
 where c.oid = to_regclass($1) and c.relkind in ('r', 'p', 'f', 'v')
