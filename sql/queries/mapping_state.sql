-- Were our objects made for this mapping, and is the shop's table still the one? $1 mapping. One row: fits, detail.
select m.fits, m.detail from order_timeout.mapping_state($1) m
