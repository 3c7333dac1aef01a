"""What SAMS knows: clubs and teams, which an import keeps as they are there."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from keyplan.apps.vcm.entities import SamsClub, SamsTeam
from keyplan.apps.vcm.models import Counts, SamsClubOut, SamsFile, SamsImported, SamsTeamOut
from keyplan.apps.vcm.service.shared import Shared
from keyplan.data import delete_all, put_all
from keyplan.design import Entity, Id, ref, scan
from keyplan.web import ANYONE, InConflict, Listing, Paging, Unprocessable, allow

Known = TypeVar("Known", bound=Entity)
_FIFTH = 5


class Sams(Shared):
    """Clubs and teams of SAMS."""

    @allow(ANYONE)
    def sams_clubs(self, page: Paging) -> Listing[SamsClubOut]:
        """All clubs of SAMS, in no order."""
        return self.listed(self.design.all_sams_clubs(), page, SamsClubOut.from_fields)

    @allow(ANYONE)
    def sams_club(self, sams_club_id: Id) -> SamsClubOut:
        """A club of SAMS."""
        return SamsClubOut.from_fields(self.find(self.design.sams_club(sams_club_id)))

    @allow(ANYONE)
    def sams_teams(self, page: Paging) -> Listing[SamsTeamOut]:
        """All teams of SAMS, in no order."""
        return self.listed(self.design.all_sams_teams(), page, SamsTeamOut.from_fields)

    @allow(ANYONE)
    def sams_team(self, sams_team_id: Id) -> SamsTeamOut:
        """A team of SAMS."""
        return SamsTeamOut.from_fields(self.find(self.design.sams_team(sams_team_id)))

    @allow("Admin")
    def import_sams(self, file: SamsFile) -> SamsImported:
        """Store the clubs and teams of a file: insert, update, and remove the rest. Repeating it is safe."""
        clubs = [SamsClub.from_fields(each) for each in file.clubs or ()]
        teams = [SamsTeam.from_fields(each) for each in file.teams or ()]
        # Both are checked before either is written.
        club_work = _Work(self, SamsClub, "sams_club_id", clubs, "clubs") if file.clubs is not None else None
        team_work = _Work(self, SamsTeam, "sams_team_id", teams, "teams") if file.teams is not None else None
        for work in (club_work, team_work):
            if work is not None:
                work.check(file.remove_many)
        return SamsImported(
            clubs=club_work.done() if club_work else Counts(), teams=team_work.done() if team_work else Counts()
        )


class _Work(Generic[Known]):
    """The changes of one of the tables."""

    def __init__(self, service: Sams, kind: type[Known], key: str, given: Sequence[Known], name: str) -> None:
        self._store, self._name, self._given = service.store, name, given
        self._kind, self._key = kind, key
        self._there: dict[str, Known] = {getattr(each, key): each for each in service.store.each(scan(kind))}
        self._wanted: dict[str, Known] = {getattr(each, key): each for each in given}

    def check(self, remove_many: bool) -> None:
        """Refuse a file that looks like a mistake."""
        if len(self._wanted) < len(self._given):
            raise Unprocessable("same-id", "Two entries have the same id.", pointer=f"/{self._name}")
        gone = len(self._there.keys() - self._wanted.keys())
        if gone * _FIFTH > len(self._there) and not remove_many:
            raise InConflict(
                "removes-many",
                f"This removes {gone} of {len(self._there)} {self._name}. Set removeMany to confirm.",
            )

    def done(self) -> Counts:
        """Write what is different."""
        gone = self._there.keys() - self._wanted.keys()
        fresh = self._wanted.keys() - self._there.keys()
        changed = [id for id, each in self._wanted.items() if id not in fresh and not self._same(id, each)]
        if fresh or changed:
            self._store.run(put_all(self._wanted[id] for id in (*fresh, *changed)))
        if gone:
            self._store.run(delete_all(ref(self._kind, **{self._key: id}) for id in gone))
        unchanged = len(self._wanted) - len(fresh) - len(changed)
        return Counts(inserted=len(fresh), updated=len(changed), removed=len(gone), unchanged=unchanged)

    def _same(self, id: str, wanted: Known) -> bool:
        stamps = {"updated_at"}
        return bool(self._there[id].model_dump(exclude=stamps) == wanted.model_dump(exclude=stamps))
