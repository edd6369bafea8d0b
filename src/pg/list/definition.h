/*
 * definition.h
 *	  By which query a list was published, so that bloom_refresh can run it again.
 */
#ifndef BFPG_DEFINITION_H
#define BFPG_DEFINITION_H

#pragma GCC visibility push(hidden)

typedef struct BfpgDefinition
{
	Oid			role;			/* that published, and alone may refresh */
	const char *query;
	const char *search_path;	/* by which the query's names were resolved */
	bool		check;
	bool		allow_empty;
	int			on_conflict;	/* a BfpgOnConflict */
} BfpgDefinition;

/*
 * Reads the definition of a list, in the caller's memory.  Throws where it has none, and where
 * the current role is not the one that published it.
 */
extern void bfpg_definition_read(Oid schema, const char *name, BfpgDefinition *definition);

/* Keeps the definition of a list, by the current role; NULL removes what is there. */
extern void bfpg_definition_write(Oid schema, const char *name, const BfpgDefinition *definition);

#pragma GCC visibility pop

#endif							/* BFPG_DEFINITION_H */
