/*
 * text_source.h
 *	  Refusing what the parser took for text on its own.
 *
 * citext, and any type that is binary-coercible to text, goes to a function's text
 * overload by an implicit cast.  Its equality is not text's: a key that is equal to
 * one in the filter might not be found.  So the argument's expression is looked at.
 * Whoever writes the cast knows what he asks for.
 */
#ifndef BFPG_TEXT_SOURCE_H
#define BFPG_TEXT_SOURCE_H

#include "fmgr.h"

#pragma GCC visibility push(hidden)

/*
 * The expression that argument argno of a call, or of an aggregate's transition
 * function, comes from; NULL if unknown.
 */
extern struct Node *bfpg_argument_expression(FunctionCallInfo fcinfo, int argno);

/* Throws if an expression is an implicit cast of a type that can't be a key's. */
extern void bfpg_check_text_source(struct Node *expression);

#pragma GCC visibility pop

#endif							/* BFPG_TEXT_SOURCE_H */
