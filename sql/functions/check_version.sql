-- A newer program's schema is not ours to change.
do {{tag}}
begin
  if exists (select from order_timeout.schema_version v where v.version > {{version}}) then
    raise exception 'the schema order_timeout was made by a newer version of order-timeoutctl (its migration %, ours {{version}})',
      (select max(v.version) from order_timeout.schema_version v);
  end if;
end
{{tag}};
