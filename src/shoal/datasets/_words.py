"""Names of people and places, all from lists written for shoal; no real person is meant.

Given names run from those of the oldest people to those of the youngest.
"""

from __future__ import annotations

GIVEN_FEMALE = (
    *("Mildred", "Edna", "Gertrude", "Ethel", "Bertha", "Agnes", "Hilda", "Irma", "Wilma", "Norma"),
    *("Doris", "Lois", "Marjorie", "June", "Dolores", "Phyllis", "Joan", "Rita", "Shirley", "Marilyn"),
    *("Beverly", "Nancy", "Judith", "Carol", "Janet", "Sandra", "Brenda", "Gail", "Sharon", "Diane"),
    *("Susan", "Pamela", "Deborah", "Teresa", "Cynthia", "Lori", "Denise", "Laura", "Monica", "Tina"),
    *("Michelle", "Angela", "Melissa", "Tracy", "Heather", "Nicole", "Stephanie", "Erin", "Jessica", "Vanessa"),
    *("Sarah", "Rachel", "Megan", "Katie", "Lauren", "Samantha", "Brittany", "Alexis", "Hannah", "Jasmine"),
    *("Emily", "Natalie", "Chloe", "Grace", "Abigail", "Madison", "Olivia", "Leah", "Zoe", "Sofia"),
    *("Ella", "Lily", "Ava", "Mia", "Nora", "Hazel", "Aria", "Luna", "Isla", "Willow"),
)
GIVEN_MALE = (
    *("Elmer", "Clarence", "Herbert", "Chester", "Wilbur", "Floyd", "Alvin", "Homer", "Lester", "Vernon"),
    *("Harold", "Ralph", "Stanley", "Leonard", "Norman", "Melvin", "Eugene", "Gordon", "Russell", "Roger"),
    *("Donald", "Gerald", "Wayne", "Larry", "Dennis", "Douglas", "Ronald", "Bruce", "Glenn", "Keith"),
    *("Gary", "Alan", "Steven", "Craig", "Randall", "Timothy", "Jeffrey", "Scott", "Gregory", "Todd"),
    *("Brian", "Kevin", "Derek", "Shawn", "Chad", "Marcus", "Jason", "Adam", "Nathan", "Travis"),
    *("Ryan", "Justin", "Brandon", "Sean", "Kyle", "Cody", "Tyler", "Zachary", "Jordan", "Austin"),
    *("Trevor", "Connor", "Caleb", "Dylan", "Logan", "Evan", "Hunter", "Gavin", "Noah", "Ethan"),
    *("Owen", "Mason", "Aiden", "Liam", "Lucas", "Levi", "Wyatt", "Ezra", "Milo", "Kai"),
)

# A family name is a beginning and an end; the first beginnings are the commonest.
_FAMILY_BEGINNINGS = (
    *("Ash", "Hart", "Wood", "Brad", "Stan", "Whit", "Lang", "Green", "Win", "Hol"),
    *("Thorn", "Kirk", "Mar", "Had", "Pen", "Wes", "Black", "Crom"),
)
_FAMILY_ENDS = ("ley", "man", "ton", "field", "well", "worth", "ford", "er", "sby", "dale")
FAMILY = tuple(beginning + end for beginning in _FAMILY_BEGINNINGS for end in _FAMILY_ENDS)

# Towns from the largest to the smallest.
_TOWN_ENDS = ("haven", "mouth", "bridge", "bury", "ford", "stead", "wick", "cliff", "mere", "hollow", "ridge", "thorpe")
_TOWN_BEGINNINGS = (
    *("Salt", "North", "Fair", "Otter", "Elm", "Stone", "Gull", "Kings", "Mill", "Heron"),
    *("Birch", "Red", "Lamb", "Clay", "Fox", "Raven", "Long", "Marsh", "Wether", "Plum"),
)
TOWNS = tuple(beginning + end for end in _TOWN_ENDS for beginning in _TOWN_BEGINNINGS)

PARTIES = ("Harbour Union", "Green Valley", "Civic League", "none stated")
PARTY_WEIGHTS = (34, 18, 29, 19)
