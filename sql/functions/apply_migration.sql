-- Migration {{version}}, once.
do {{tag}}
begin
  if not exists (select from order_timeout.schema_version v where v.version = {{version}}) then
    insert into order_timeout.schema_version (version, name) values ({{version}}, {{name}});
    execute {{statements}};
  end if;
end
{{tag}};
