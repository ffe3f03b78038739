-- Up Migration
-- NFS-e: pacing by certificate, the second pass over numbers that did not come.

-- Nobody calls with this certificate before then: a root's certificate serves its branches, and the service counts it once.
alter table certificates add column paced_until timestamptz(3);

-- How far a second pass over the numbers has come; null: none is under way. The cursor itself never goes back.
alter table captures add column pass_nsu bigint;

-- How the numbers are asked for again: each by itself (point), or all together by a second pass.
alter table gaps add column means text not null default 'point';

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
