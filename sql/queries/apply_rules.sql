-- Puts the business lines in force. $1 the rules as apply_rules() reads them. One row: the revision now in force.
select order_timeout.apply_rules(null, $1::jsonb)
