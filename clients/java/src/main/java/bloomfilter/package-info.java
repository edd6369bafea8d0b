/**
 * Asks the filters of the PostgreSQL extension {@code bloomfilter}, without the database.
 *
 * <p>Start with {@link bloomfilter.BloomFilter#open}.
 */
package bloomfilter;
