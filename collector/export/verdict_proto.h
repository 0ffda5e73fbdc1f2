// Verdicts of diagnosis ↔ fathom.v1.Verdict, one to one.
//
// Used by the store (both ways), the API, the events and the report. Names of enumerators are
// those of diagnosis' ToString; an unknown name reads as kUnknown (or the first enumerator).
// Thread-safety: pure functions. Errors: none. Cost: O(verdict).
#ifndef FATHOM_COLLECTOR_EXPORT_VERDICT_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_VERDICT_PROTO_H_

#include "collector/verdict/episode.h"

namespace fathom::v1 {
class Entity;
class Verdict;
}  // namespace fathom::v1

namespace fathom::collector {

void ToProto(const Episode& episode, v1::Verdict& out);
void ToProto(const diagnosis::Entity& entity, v1::Entity& out);
diagnosis::Entity FromProto(const v1::Entity& entity);
// `opened` and `updated` are not on the wire: they are left as not known.
Episode FromProto(const v1::Verdict& verdict);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_VERDICT_PROTO_H_
