-- night.sql: builds the list, checks it, publishes it.
call bloom_publish('account', 'select id from account');
