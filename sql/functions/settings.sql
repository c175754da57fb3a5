-- One migration of a database at a time; it waits for nobody's lock for long and reads our literals as we wrote them.
set local standard_conforming_strings = on;
set local lock_timeout = '10s';
set local statement_timeout = 0;
set local client_min_messages = notice;
set local search_path = pg_catalog, public;
select pg_advisory_xact_lock(7526471192635110001);
