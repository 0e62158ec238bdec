"""Text-to-SQL: questions that a query answers, their sources, judgement and proof.

The other rooms find everything here through extension points; none of them imports this one.
"""
