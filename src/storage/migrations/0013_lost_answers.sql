-- Up Migration
-- An earlier request with the same signed bytes may have registered the event: its answer got lost.
alter table manifestations add column answer_lost boolean not null default false;

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
