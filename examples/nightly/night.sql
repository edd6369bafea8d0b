-- night.sql: builds the filter, checks it, publishes it, tells everybody.
call bloom_publish('account', 'select id from account');
