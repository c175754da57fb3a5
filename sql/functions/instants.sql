-- Between the shop's times, timestamptz and milliseconds. Each is one expression that the planner puts in place of the
-- call, so that a comparison with the shop's own column still finds the shop's index.

-- The shop's value as an instant; a timestamp is read in order_table.time_zone.
create or replace function order_timeout.instant(t timestamptz) returns timestamptz
language sql immutable parallel safe return t;
create or replace function order_timeout.instant(t timestamp) returns timestamptz
language sql immutable parallel safe return t at time zone {{time_zone}};

-- An instant in the type of a column of the shop's; only the type of `column_like` matters.
create or replace function order_timeout.shop_time(t timestamptz, column_like timestamptz)
returns timestamptz language sql immutable parallel safe return t;
create or replace function order_timeout.shop_time(t timestamptz, column_like timestamp)
returns timestamp language sql immutable parallel safe return t at time zone {{time_zone}};

-- Milliseconds since the epoch, rounded UP so that an instant reached is never before t; the ends stand for infinity.
create or replace function order_timeout.epoch_ms(t timestamptz) returns bigint
language sql immutable parallel safe
return case t when 'infinity'::timestamptz then 9223372036854775807
              when '-infinity'::timestamptz then '-9223372036854775808'::bigint
              else ceil(extract(epoch from t) * 1000)::bigint end;

-- The inverse; what an interval or a timestamptz cannot hold is infinite.
create or replace function order_timeout.from_epoch_ms(ms bigint) returns timestamptz
language sql stable parallel safe
return case when ms >= 9223372036854775 then 'infinity'::timestamptz
            when ms < -210866803200000 then '-infinity'::timestamptz
            else '1970-01-01 00:00:00+00'::timestamptz + ms * interval '1 millisecond' end;

-- `t` and so much more; beyond what PostgreSQL can hold it never comes.
create or replace function order_timeout.later(t timestamptz, more interval) returns timestamptz
language sql stable parallel safe
return case when more is not null and t >= '290000-01-01 00:00:00+00'::timestamptz then 'infinity'::timestamptz
            else t + more end;

-- RFC 3339, UTC, milliseconds.
create or replace function order_timeout.rfc3339(t timestamptz) returns text
language sql stable parallel safe
return case when isfinite(t) then to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
            else t::text end;
