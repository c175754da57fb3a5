-- Made by order-timeoutctl: the objects of order-timeoutd for this shop. To be run by whoever owns the shop's tables and
-- may create roles: psql -v ON_ERROR_STOP=1. All or nothing; running it again changes nothing.
begin;
{{body}}
commit;
